// Kernels from C++ source to results: sizes, strides, alignments, constants, grids.
#include "tests/runtime/jit/Devices.h"

using namespace tile;
using namespace tile::test;

namespace {

class Launch : public OnDevice {};
TILE_ON_EVERY_DEVICE(Launch);

auto add = kernel("add", [](In<f32, 1> x, In<f32, 1> y, Out<f32, 1> z, Const block) {
             Value i = grid1d(z, {block});
             z.tile({block})(i) = x.tile({block})(i) + y.tile({block})(i);
           }).named("x", "y", "z", "block");

TEST_P(Launch, AddsVectorsOfAnyLength) {
  for (int64_t count : {1, 127, 128, 129, 1000, 1024, 4096}) {
    auto x = device().tensor<float>({count}, ramp(count, 1)),
         y = device().tensor<float>({count}, ramp(count, 1000));
    auto z = device().tensor<float>({count});
    add.consts(256)(stream, x, y, z);
    stream.synchronize();
    std::vector<float> sums = z.download();
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(sums[i], static_cast<float>((1 + i) + (1000 + i)))
          << "count " << count << " at " << i;
  }
}

TEST_P(Launch, LeavesTheNeighboursOfMisalignedSlicesAlone) {
  constexpr int64_t kCount = 300;
  for (int64_t shift : {0, 1, 2, 4, 8}) {
    auto x = device().tensor<float>({kCount + 16}, ramp(kCount + 16, 0));
    auto z = device().tensor<float>({kCount + 16});
    z.fill(-7);
    add.consts(128)(stream, x.slice(0, shift, kCount), x.slice(0, 1, kCount),
                    z.slice(0, shift, kCount));
    std::vector<float> result = z.download();
    for (int64_t i = 0; i < kCount + 16; ++i) {
      bool isInside = i >= shift && i < shift + kCount;
      float expected = isInside ? static_cast<float>(i + (i - shift) + 1) : -7;
      ASSERT_EQ(result[i], expected) << "shift " << shift << " at " << i;
    }
  }
}

TEST_P(Launch, ReadsBroadcastAndStridedInputs) {
  auto x = device().tensor<float>({100}, ramp(100, 0)), z = device().tensor<float>({50});
  add.consts(64)(stream, x.withStrides({50}, {2}), x.slice(0, 5, 1).withStrides({50}, {0}), z);
  std::vector<float> result = z.download();
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(result[i], static_cast<float>(2 * i + 5));
}

TEST_P(Launch, AnEmptyGridLaunchesNothing) {
  auto nothing = device().tensor<float>({0});
  EXPECT_NO_THROW(add.consts(256)(stream, nothing, nothing, device().tensor<float>({0})));
  EXPECT_NO_THROW(
      add.consts(256)(stream, ref(static_cast<float *>(nullptr), {0}), nothing, nothing));
}

auto matmul = kernel("matmul", [](In<f32, 2> a, In<f32, 2> b, Out<f32, 2> c, Const side) {
                auto [m, n] = grid2d(c, {side, side});
                auto sums = var(zeros(f32, {side, side}));
                for (auto k : range(cdiv(a.dim(1), side)))
                  sums = dot(a.tile({side, side})(m, k), b.tile({side, side})(k, n), sums,
                             {.precision = Precision::ieee});
                c.tile({side, side})(m, n) = sums;
              }).named("a", "b", "c", "side");

TEST_P(Launch, MultipliesMatricesWithAnyExtentOfTheSum) {
  for (int64_t inner : {0, 1, 16, 33}) {
    auto a = device().tensor<float>({20, inner}, ramp(20 * inner, 0));
    auto b = device().tensor<float>({inner, 17}, ramp(inner * 17, 1));
    auto c = device().tensor<float>({20, 17});
    c.fill(5);
    matmul.consts(16)(stream, a, b, c);
    std::vector<float> result = c.download();
    for (int64_t m = 0; m < 20; ++m)
      for (int64_t n = 0; n < 17; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < inner; ++k)
          sum += double(m * inner + k) * double(k * 17 + n + 1);
        ASSERT_NEAR(result[m * 17 + n], sum, 1e-6 * sum)
            << "inner " << inner << " at " << m << ", " << n;
      }
  }
}

auto mark = kernel("mark", [](Out<i32, 1> out, Scalar<i32> value, Scalar<f32> unused) {
  out.tile({1})(program_id(0)) = zeros(i32, {1}) + value;
});

TEST_P(Launch, PassesScalarsAndGivenGrids) {
  auto out = device().tensor<int32_t>({6});
  out.fill(0);
  mark.grid(4)(stream, out, -5, 1.0f);
  EXPECT_EQ(out.download(), (std::vector<int32_t>{-5, -5, -5, -5, 0, 0}));
}

TEST_P(Launch, RefusesGridsThatAreMissingOrTooLarge) {
  auto out = device().tensor<int32_t>({6});
  Error missing = errorOf([&] { mark(stream, out, 1, 1.0f); });
  EXPECT_EQ(missing.code(), ErrorCode::InvalidArgument);
  EXPECT_NE(missing.message().find("has no grid helper"), std::string::npos) << missing.what();
  for (auto launch :
       {mark.grid(int64_t(1) << 31), mark.grid(1, 65536), mark.grid(1, 1, 65536), mark.grid(-1)}) {
    Error error = errorOf([&] { launch(stream, out, 1, 1.0f); });
    EXPECT_EQ(error.code(), ErrorCode::InvalidShape) << error.what();
  }
}

TEST_P(Launch, WorksInPlaceOnOneView) {
  auto x = device().tensor<float>({500}, ramp(500, 0)),
       y = device().tensor<float>({500}, ramp(500, 0));
  add.consts(128)(stream, x, y, x);
  std::vector<float> result = x.download();
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(result[i], static_cast<float>(2 * i));
}

TEST_P(Launch, PreparedKernelsNeedNoCompile) {
  auto x = device().tensor<float>({96}, ramp(96, 0)), z = device().tensor<float>({96});
  auto launcher = add.consts(32).warps(2);
  uint64_t before = compiles();
  launcher.prepare(device(), x, x, z);
  EXPECT_EQ(compiles(), before + 1);
  launcher(stream, x, x, z);
  EXPECT_EQ(compiles(), before + 1);
  EXPECT_EQ(z.download()[95], 190);
}

} // namespace
