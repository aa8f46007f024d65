// Memory: views at ragged edges, padding, offsets, strides; pointer tiles with masks; InOut views and
// the order of their accesses.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(MemoryAccess, Targets::One);

TEST_P(MemoryAccess, CopyOfEveryDtypeAtEveryAlignment) {
  static const auto program = kernel("copy", [](In<any, 2> x, Out<any, 2> y, Const M, Const N) {
    auto [m, n] = grid2d(y, {M, N});
    y.tile({M, N})(m, n) = x.tile({M, N})(m, n);
  });
  auto check = [&]<class T>(T) {
    for (int64_t columns : {1, 31, 64, 65, 129})
      for (int64_t start : {0, 1, 3}) {
        SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " columns " + std::to_string(columns) +
                     " from " + std::to_string(start));
        std::vector<T> x = uniform<T>(17 * (columns + start), 0, 100);
        auto y = output<T>({17, columns}, start);
        program.consts(16, 64)(stream, input({17, columns + start}, x).slice(1, start, columns),
                               y.tensor());
        expectAll(y.result(), [&](int64_t i) {
          return exact(x[size_t(i / columns * (columns + start) + start + i % columns)]);
        });
      }
  };
  check(int8_t()), check(half()), check(float()), check(double());
}

TEST_P(MemoryAccess, SizesAroundTheTileInBothDimensions) {
  static const auto program =
      kernel("increment", [](In<f32, 2> x, Out<f32, 2> y, Const M, Const N) {
        auto [m, n] = grid2d(y, {M, N}).swizzled(2);
        y.tile({M, N})(m, n) = x.tile({M, N})(m, n) + 1.0f;
      });
  for (auto [tileM, tileN] : {std::pair(16, 32), {48, 80}})
    for (int64_t m : sizesAround(tileM))
      for (int64_t n : sizesAround(tileN)) {
        std::vector<float> x = uniform<float>(m * n);
        auto y = output<float>({m, n}, 3);
        program.consts(tileM, tileN)(stream, input({m, n}, x), y.tensor());
        expectAll(y.result(), [&](int64_t i) { return x[size_t(i)] + 1.0f; });
      }
}

TEST_P(MemoryAccess, EmptyTensorsLaunchNothing) {
  static const auto program = kernel("empty", [](In<f32, 2> x, Out<f32, 2> y) {
    auto [m, n] = grid2d(y, {16, 16});
    y.tile({16, 16})(m, n) = x.tile({16, 16})(m, n);
  });
  for (auto [m, n] : {std::pair<int64_t, int64_t>(0, 5), {5, 0}, {0, 0}}) {
    auto y = output<float>({m, n}, 2);
    program(stream, input<float>({m, n}, {}), y.tensor());
    EXPECT_TRUE(y.result().empty());
  }
}

TEST_P(MemoryAccess, PaddingOffsetsAndInside) {
  static const auto program = kernel("halo", [](In<f32, 1> x, Out<f32, 2> y, Out<i1, 1> inside) {
    Value i = grid1d(x, {32});
    Value first = i * 32;
    y.tile({1, 32})(0, i) = expand_dims(x.tile({32}).offset(first - 1), 0);
    y.tile({1, 32})(1, i) = expand_dims(x.tile({32}).pad(7).offset(first + 1), 0);
    y.tile({1, 32})(2, i) = expand_dims(x.tile({32}).pad(-INFINITY).offset(first + 40), 0);
    y.tile({1, 32})(3, i) = expand_dims(x.tile({32}).pad(NAN).offset(first - 40), 0);
    inside.tile({32})(i) = x.tile({32}).inside(i);
  });
  for (int64_t n : {1, 31, 32, 33, 70}) {
    int64_t covered = (n + 31) / 32 * 32;
    std::vector<float> x = uniform<float>(n);
    auto y = output<float>({4, covered});
    auto inside = output<bool>({covered});
    program(stream, input({n}, x), y.tensor(), inside.tensor());
    expectAll(y.result(), [&](int64_t at) -> float {
      int64_t shifts[] = {-1, 1, 40, -40};
      float pads[] = {0, 7, -INFINITY, NAN};
      int64_t from = at % covered + shifts[at / covered];
      return from >= 0 && from < n ? x[size_t(from)] : pads[at / covered];
    });
    expectAll(inside.result(), [&](int64_t i) { return i < n; });
  }
}

TEST_P(MemoryAccess, StridedAndBroadcastInputs) {
  static const auto program = kernel("strided", [](In<f32, 2> x, Out<f32, 2> y) {
    auto [m, n] = grid2d(y, {16, 32});
    y.tile({16, 32})(m, n) = x.tile({16, 32})(m, n);
  });
  std::vector<float> x = uniform<float>(4000);
  for (auto [rowStride, columnStride] :
       {std::pair<int64_t, int64_t>(100, 1), {1, 50}, {90, 2}, {0, 1}, {3, 0}, {0, 0}}) {
    SCOPED_TRACE(std::to_string(rowStride) + ", " + std::to_string(columnStride));
    auto y = output<float>({20, 40}, 1);
    auto view = input({4000}, x).withStrides({20, 40}, {rowStride, columnStride});
    program(stream, view, y.tensor());
    expectAll(y.result(),
              [&](int64_t i) { return x[size_t(i / 40 * rowStride + i % 40 * columnStride)]; });
  }
}

TEST_P(MemoryAccess, GatherThroughPointers) {
  static const auto program =
      kernel("gather", [](In<any, 1> table, In<i32, 1> indices, Out<any, 1> y, Const B) {
        Value i = grid1d(y, {B});
        Value at = indices.tile({B})(i);
        Value valid = (at >= 0) & (at < table.dim(0));
        y.tile({B})(i) = load(table.ptr() + at, valid, -1);
      });
  auto check = [&]<class T>(T) {
    std::vector<T> table = uniform<T>(100, 0, 100);
    std::vector<int32_t> indices = uniform<int32_t>(300, -20, 120);
    auto y = output<T>({300});
    program.consts(128)(stream, input({100}, table), input({300}, indices), y.tensor());
    expectAll(y.result(), [&](int64_t i) {
      int32_t at = indices[size_t(i)];
      return at >= 0 && at < 100 ? exact(table[size_t(at)]) : Exact<T>(-1);
    });
  };
  check(float()), check(half()), check(int8_t()), check(int64_t()), check(bfloat16());
}

TEST_P(MemoryAccess, ScatterThroughPointersTouchesNothingElse) {
  static const auto program =
      kernel("scatter", [](In<f32, 1> x, In<i32, 1> indices, Out<f32, 1> y, Const B) {
        Value i = grid1d(x, {B});
        Value at = indices.tile({B})(i);
        store(y.ptr() + at, x.tile({B})(i), x.tile({B}).inside(i) & (at >= 0));
      });
  std::vector<float> x = uniform<float>(97);
  std::vector<int32_t> indices;
  for (int i = 0; i < 97; ++i)
    indices.push_back(i % 5 == 0 ? -1 : (i * 31) % 97);
  auto y = output<float>({97});
  auto before = uniform<float>(97, 5, 6, 9);
  TensorOf<float>(y.tensor()).upload(before);
  program.consts(64)(stream, input({97}, x), input({97}, indices), y.tensor());
  for (int i = 0; i < 97; ++i)
    if (indices[size_t(i)] >= 0)
      before[size_t(indices[size_t(i)])] = x[size_t(i)];
  expectAll(y.result(), [&](int64_t i) { return before[size_t(i)]; });
}

TEST_P(MemoryAccess, ScalarLoadsAndStores) {
  static const auto program = kernel("scalar", [](In<i32, 1> x, Out<i32, 1> y) {
    Value p = program_id(0);
    Value other = load(x.ptr() + (x.dim(0) - 1 - p));
    if_(other > 0, [&] { store(y.ptr() + p, other * 2); }).else_([&] { store(y.ptr() + p, 0); });
  });
  std::vector<int32_t> x = {3, -1, 4, -5, 9};
  auto y = output<int32_t>({5});
  program.grid(5)(stream, input({5}, x), y.tensor());
  expectAll(y.result(), [&](int64_t i) { return std::max(0, 2 * x[size_t(4 - i)]); });
}

TEST_P(MemoryAccess, InOutIsReadThenWritten) {
  static const auto program = kernel("update", [](InOut<f32, 2> x, In<f32, 2> y) {
    auto [m, n] = grid2d(x, {16, 64});
    x.tile({16, 64})(m, n) += y.tile({16, 64})(m, n);
    Value now = x.tile({16, 64})(m, n);
    x.tile({16, 64})(m, n) = now * 2.0f;
  });
  std::vector<float> x = uniform<float>(33 * 70), y = uniform<float>(33 * 70, -1, 1, 2);
  auto both = output<float>({33, 70}, 2);
  both.tensor().upload(x);
  program(stream, both.tensor(), input({33, 70}, y));
  expectAll(both.result(), [&](int64_t i) { return (x[size_t(i)] + y[size_t(i)]) * 2; });
}

TEST_P(MemoryAccess, AccessesOfOneArgumentKeepTheirOrderAcrossLanes) {
  // A transposed copy inside one tensor: lanes read what other lanes wrote before.
  static const auto program = kernel("reorder", [](InOut<i32, 2> x, Scalar<i32> rounds) {
    for ([[maybe_unused]] auto round : range(rounds)) {
      Value tile = x.tile({32, 32})(0, 0);
      x.tile({32, 32})(0, 0) = trans(tile) + 1;
      Value flipped = x.tile({32, 32})(0, 0);
      x.tile({32, 32})(0, 0) = flipped * 2;
    }
  });
  std::vector<int32_t> x = uniform<int32_t>(32 * 32, -100, 100);
  for (int rounds : {1, 2, 3})
    for (int warps : {1, 4}) {
      auto both = output<int32_t>({32, 32});
      both.tensor().upload(x);
      program.warps(warps).grid(1)(stream, both.tensor(), rounds);
      expectAll(both.result(), [&](int64_t i) {
        int64_t value = x[size_t(rounds % 2 ? i % 32 * 32 + i / 32 : i)];
        for (int round = 0; round < rounds; ++round)
          value = (value + 1) * 2;
        return value;
      });
    }
}

TEST_P(MemoryAccess, PointersWrittenAndReadInOneKernel) {
  static const auto program = kernel("rotate", [](InOut<i32, 1> x) {
    Value lane = arange(256);
    for (auto round : range(5)) {
      Value neighbour = load(x.ptr() + (lane + 1) % 256);
      store(x.ptr() + lane, neighbour + round);
    }
  });
  std::vector<int32_t> x = uniform<int32_t>(256, -100, 100);
  auto both = output<int32_t>({256});
  both.tensor().upload(x);
  program.grid(1)(stream, both.tensor());
  expectAll(both.result(), [&](int64_t i) { return x[size_t((i + 5) % 256)] + 10; });
}

TEST_P(MemoryAccess, StridesBeyond32BitsAreAddressed) {
  // A matrix whose rows lie 2 GiB apart, of which only the last is memory of ours.
  static const auto program = kernel("far_row", [](In<f32, 2> x, Out<f32, 2> y, Scalar<i32> row) {
    y.tile({1, 64})(0, 0) = x.tile({1, 64})(row, 0);
  });
  std::vector<float> x = uniform<float>(64);
  auto memory = input({64}, x);
  auto y = output<float>({1, 64});
  constexpr int64_t stride = int64_t(1) << 29, row = 9;
  intptr_t start = reinterpret_cast<intptr_t>(memory.data()) - stride * row * 4;
  program.grid(1)(stream, ref(reinterpret_cast<float *>(start), {row + 1, 60}, {stride, 1}),
                  y.tensor(), int(row));
  expectAll(y.result(), [&](int64_t i) { return i < 60 ? x[size_t(i)] : 0; });
}

} // namespace
