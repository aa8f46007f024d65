// Arithmetic: every dtype, broadcast, strided and in place, and what it refuses.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Arithmetic.h>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ArithmeticOps, Targets::One);

TEST_P(ArithmeticOps, EveryDtypeAndSize) {
  auto check = [&]<class T>(T) {
    for (int64_t size : {1, 7, 1023, 1024, 1025, 2049}) {
      auto x = uniform<T>(size, 0, 50), y = uniform<T>(size, 0, 50, 2);
      auto c = output<T>({size});
      ops::add(stream, input({size}, x), input({size}, y), c.tensor());
      expectAll(c.result(), [&](int64_t i) { return exact(x[size_t(i)]) + exact(y[size_t(i)]); },
                {0.5});
    }
  };
  check(half()), check(bfloat16()), check(float()), check(double());
  check(int8_t()), check(int16_t()), check(int32_t()), check(int64_t());
  check(uint8_t()), check(uint16_t()), check(uint32_t()), check(uint64_t());
}

TEST_P(ArithmeticOps, AllFunctions) {
  auto check = [&](auto op, auto allocating, auto reference) {
    auto x = uniform<float>(300), y = uniform<float>(300, 0.5, 2, 2);
    auto a = input({300}, x), b = input({300}, y);
    auto c = output<float>({300});
    op(stream, a, b, c.tensor(), Loc::here());
    auto expected = [&](int64_t i) { return reference(x[size_t(i)], y[size_t(i)]); };
    expectAll(c.result(), expected, {.ulps = 2});
    expectAll(TensorOf<float>(allocating(stream, a, b, Loc::here())).download(), expected,
              {.ulps = 2});
  };
  using Op = void (*)(const Stream &, const ops::Operand &, const ops::Operand &,
                      const ops::Operand &, Loc);
  using New = Tensor (*)(const Stream &, const ops::Operand &, const ops::Operand &, Loc);
  check(Op(ops::add), New(ops::add), [](float x, float y) { return x + y; });
  check(Op(ops::subtract), New(ops::subtract), [](float x, float y) { return x - y; });
  check(Op(ops::multiply), New(ops::multiply), [](float x, float y) { return x * y; });
  check(Op(ops::divide), New(ops::divide), [](float x, float y) { return x / y; });
  check(Op(ops::maximum), New(ops::maximum), [](float x, float y) { return std::max(x, y); });
  check(Op(ops::minimum), New(ops::minimum), [](float x, float y) { return std::min(x, y); });
}

TEST_P(ArithmeticOps, TransposedAndPermuted) {
  auto x = uniform<float>(60 * 70), y = uniform<float>(60 * 70, -1, 1, 2);
  auto c = output<float>({60, 70}, 3);
  ops::add(stream, input({60, 70}, x), input({70, 60}, y).T(), c.tensor());
  expectAll(c.result(), [&](int64_t i) { return x[size_t(i)] + y[size_t(i % 70 * 60 + i / 70)]; });
  auto cube = output<float>({3, 20, 70});
  ops::add(stream, input({3, 20, 70}, x), input({70, 3, 20}, y).permute({1, 2, 0}), cube.tensor());
  expectAll(cube.result(),
            [&](int64_t i) { return x[size_t(i)] + y[size_t(i % 70 * 60 + i / 70)]; });
}

TEST_P(ArithmeticOps, Broadcast) {
  auto x = uniform<float>(4 * 5 * 33), row = uniform<float>(33, -1, 1, 2),
       column = uniform<float>(5, -1, 1, 3);
  auto cube = input({4, 5, 33}, x);
  auto c = output<float>({4, 5, 33}, 2);
  ops::add(stream, cube, input({33}, row), c.tensor());
  expectAll(c.result(), [&](int64_t i) { return x[size_t(i)] + row[size_t(i % 33)]; });
  ops::multiply(stream, input({5, 1}, column), cube, c.tensor());
  expectAll(c.result(), [&](int64_t i) { return x[size_t(i)] * column[size_t(i / 33 % 5)]; });
  Tensor outer = ops::multiply(stream, input({5, 1}, column), input({33}, row));
  EXPECT_EQ(outer.extent(0), 5);
  EXPECT_EQ(outer.extent(1), 33);
  expectAll(TensorOf<float>(outer).download(),
            [&](int64_t i) { return column[size_t(i / 33)] * row[size_t(i % 33)]; });
  auto one = output<float>({1});
  ops::add(stream, input({}, std::vector<float>{2}), input({1}, std::vector<float>{3}),
           one.tensor());
  expectAll(one.result(), [](int64_t) { return 5; });
}

TEST_P(ArithmeticOps, CopyCastFillAffine) {
  auto x = uniform<float>(50 * 40, -300, 300);
  auto matrix = input({50, 40}, x);
  auto bytes = output<int8_t>({40, 50}, 1);
  ops::copy(stream, matrix.T(), bytes.tensor());
  expectAll(bytes.result(), [&](int64_t i) {
    return std::clamp(std::trunc(x[size_t(i % 50 * 40 + i / 50)]), -128.0f, 127.0f);
  });
  Tensor halves = ops::copy(stream, matrix.T(), f16);
  EXPECT_TRUE(halves.isContiguous());
  EXPECT_EQ(halves.extent(0), 40);
  expectAll(TensorOf<half>(halves).download(),
            [&](int64_t i) { return x[size_t(i % 50 * 40 + i / 50)]; }, {0.51});
  auto y = output<float>({50, 40});
  ops::affine(stream, matrix, -0.5, 3, y.tensor());
  expectAll(y.result(), [&](int64_t i) { return 3 - x[size_t(i)] / 2; }, {1});
  ops::fill(stream, 0.1, y.tensor());
  expectAll(y.result(), [](int64_t) { return 0.1f; });
  auto wide = output<uint64_t>({7});
  ops::fill(stream, 0x1p63 + 4096, wide.tensor());
  expectAll(wide.result(), [](int64_t) { return 0x1p63 + 4096; });
}

TEST_P(ArithmeticOps, InPlaceAndEmpty) {
  auto x = uniform<float>(1500);
  auto c = output<float>({1500});
  c.tensor().upload(x);
  ops::add(stream, c.tensor(), input({1500}, x), c.tensor());
  expectAll(c.result(), [&](int64_t i) { return 2 * x[size_t(i)]; });
  auto none = device().tensor<float>({0, 5});
  ops::add(stream, none, none, none);
}

TEST_P(ArithmeticOps, Refusals) {
  auto a = device().tensor<float>({10, 4}), b = device().tensor<float>({10, 5});
  auto h = device().tensor<half>({10, 4});
  auto c = device().tensor<float>({10, 4});
  expectRefused(ErrorCode::InvalidShape, "add: b is f32 10x5, but c is f32 10x4",
                [&] { ops::add(stream, a, b, c); });
  expectRefused(ErrorCode::InvalidShape, "add: a is f32 10x4, but b is f32 10x5",
                [&] { ops::add(stream, a, b); });
  expectRefused(ErrorCode::InvalidArgument, "add: a is f32 10x4, but b is f16 10x4",
                [&] { ops::add(stream, a, h, c); });
  expectRefused(ErrorCode::Aliasing, "c is f32 10x4 with a stride of 0", [&] {
    ops::add(stream, a, a, c.withStrides({10, 4}, {4, 0}));
  });
  auto memory = device().tensor<float>({50});
  expectRefused(ErrorCode::Aliasing, "c overlaps a in memory", [&] {
    ops::add(stream, memory.slice(0, 0, 40), memory.slice(0, 0, 40), memory.slice(0, 4, 40));
  });
  auto flags = device().tensor<bool>({10});
  expectRefused(ErrorCode::InvalidArgument, "supported dtypes: f16",
                [&] { ops::add(stream, flags, flags, flags); });
  expectRefused(ErrorCode::InvalidArgument, "fill: value is 300",
                [&] { ops::fill(stream, 300, device().tensor<uint8_t>({4})); });
}

} // namespace
