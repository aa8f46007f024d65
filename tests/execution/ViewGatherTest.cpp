// Tiles of a view whose rows or columns are picked by index: loads and stores, with indices and tiles that
// reach outside the tensor.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ViewGather, Targets::One);
EXECUTION_SUITE(ViewGatherInProducts);

/// Row numbers, of which some lie outside [0, rows).
template <class I> std::vector<I> someRows(int count, int64_t rows) {
  std::vector<I> list;
  Random random(5);
  for (int i = 0; i < count; ++i) {
    auto at = static_cast<int64_t>(random.bits() % uint64_t(rows + 4));
    list.push_back(static_cast<I>(std::is_signed_v<I> ? at - 2 : at));
  }
  return list;
}

TEST_P(ViewGather, RowsAndColumnsOfEveryIndexType) {
  auto check = [&]<class T, class I>(T, I) {
    static const auto rows = kernel("rows", [](In<dtypeOf<T>, 2> x, In<dtypeOf<I>, 1> at,
                                               Out<dtypeOf<T>, 2> y, Const R, Const C) {
      auto [i, j] = grid2d(y, {R, C});
      y.tile({R, C})(i, j) = x.tile({R, C}).pad(7).gather(0, at.tile({R})(i), {j});
    });
    static const auto columns = kernel("columns", [](In<dtypeOf<T>, 2> x, In<dtypeOf<I>, 1> at,
                                                     Out<dtypeOf<T>, 2> y, Const R, Const C) {
      auto [i, j] = grid2d(y, {R, C});
      y.tile({R, C})(i, j) = x.T().tile({R, C}).gather(-1, at.tile({C})(j), {i});
    });
    constexpr int64_t kRows = 19;
    for (auto [count, width] : {std::pair(32, 64), {45, 50}, {1, 3}}) {
      std::vector<T> x = uniform<T>(kRows * width, 0, 100);
      std::vector<I> at = someRows<I>(count, kRows);
      auto picked = [&](int64_t row, int64_t column, double pad) {
        auto source = static_cast<int64_t>(at[size_t(row)]);
        return source < 0 || source >= kRows ? pad : exact(x[size_t(source * width + column)]);
      };
      auto y = output<T>({count, width}, 1), z = output<T>({width, count}, 1);
      rows.consts(16, 32)(stream, input({kRows, width}, x), input({count}, at), y.tensor());
      expectAll(y.result(), [&](int64_t i) { return picked(i / width, i % width, 7); });
      columns.consts(32, 16)(stream, input({kRows, width}, x), input({count}, at), z.tensor());
      expectAll(z.result(), [&](int64_t i) { return picked(i % count, i / count, 0); });
    }
  };
  check(float(), int32_t()), check(half(), int64_t()), check(int8_t(), uint8_t()),
      check(double(), int16_t()), check(int32_t(), uint64_t()), check(int16_t(), uint32_t());
}

TEST_P(ViewGather, ScatteredRowsLeaveTheOthersAlone) {
  static const auto program =
      kernel("scatter", [](In<f32, 2> x, In<i32, 1> at, InOut<f32, 2> y, Const R, Const C) {
        auto [i, j] = grid2d(x, {R, C});
        Value rows = at.tile({R}).pad(-1)(i);
        Value before = y.tile({R, C}).gather(0, rows, {j});
        y.tile({R, C}).scatter(0, rows, {j}) = x.tile({R, C})(i, j) + before;
      });
  constexpr int64_t kCount = 21, kColumns = 40, kRows = 64;
  std::vector<float> x = uniform<float>(kCount * kColumns);
  std::vector<int32_t> at;
  for (int i = 0; i < kCount; ++i)
    at.push_back(i * 4 - 8); // some outside on either side, none twice
  std::vector<float> expected(kRows * kColumns, 1);
  for (int64_t i = 0; i < kCount * kColumns; ++i)
    if (int64_t row = at[size_t(i / kColumns)]; row >= 0 && row < kRows)
      expected[size_t(row * kColumns + i % kColumns)] += x[size_t(i)];
  auto y = input<float>({kRows, kColumns}, std::vector<float>(kRows * kColumns, 1));
  program.consts(8, 16)(stream, input({kCount, kColumns}, x), input({kCount}, at), y);
  EXPECT_EQ(y.download(), expected);
}

TEST_P(ViewGather, OneAndThreeDimensions) {
  static const auto program = kernel("ranks", [](In<i32, 1> line, In<i32, 3> cube, In<i32, 1> at,
                                                 Out<i32, 1> y, Out<i32, 3> z, Const B) {
    Value rows = at.tile({B})(0);
    y.tile({B}).scatter(0, rows) = line.tile({B}).unchecked().gather(0, rows);
    for (auto plane : range(2))
      z.tile({1, B, 8})(plane, 0, 0) = cube.tile({1, B, 8}).gather(1, rows, {plane, 0});
  });
  std::vector<int32_t> line = uniform<int32_t>(16, 0, 99),
                       cube = uniform<int32_t>(2 * 16 * 5, 0, 99), at;
  for (int i = 0; i < 16; ++i)
    at.push_back(i * 5 % 16);
  auto y = output<int32_t>({16});
  auto z = output<int32_t>({2, 16, 5}, 2);
  program.consts(16).grid(1)(stream, input({16}, line), input({2, 16, 5}, cube), input({16}, at),
                             y.tensor(), z.tensor());
  expectAll(y.result(), [&](int64_t i) { return line[size_t(i)]; });
  expectAll(z.result(), [&](int64_t i) {
    int64_t plane = i / 80, row = i / 5 % 16, column = i % 5;
    return cube[size_t(plane * 80 + at[size_t(row)] * 5 + column)];
  });
}

/// A product whose rows are picked: the indices change in the loop.
TEST_P(ViewGatherInProducts, OfPickedRows) {
  static const auto program = kernel("picked", [](In<f16, 2> a, In<f16, 2> b, In<i32, 1> at,
                                                  Out<f32, 2> c, Const M, Const N, Const K) {
    Value i = grid1d(c, {M}), rows = at.tile({M})(i);
    auto acc = var(zeros(f32, {M, N}));
    for (auto k : range(cdiv(a.dim(1), K)))
      acc = dot(a.tile({M, K}).gather(0, rows, {k}), b.tile({K, N})(k, 0), acc);
    c.tile({M, N})(i, 0) = acc;
  });
  constexpr int64_t kM = 40, kN = 32, kK = 72, kRows = 25;
  std::vector<half> a = uniform<half>(kRows * kK, -1, 1), b = uniform<half>(kK * kN, -1, 1);
  std::vector<int32_t> at = someRows<int32_t>(kM, kRows);
  auto c = output<float>({kM, kN});
  program.consts(16, 32, 32)(stream, input({kRows, kK}, a), input({kK, kN}, b), input({kM}, at),
                             c.tensor());
  expectAll(c.result(),
            [&](int64_t i) {
              int64_t row = at[size_t(i / kN)];
              double sum = 0;
              for (int64_t k = 0; k < kK && row >= 0 && row < kRows; ++k)
                sum += exact(a[size_t(row * kK + k)]) * exact(b[size_t(k * kN + i % kN)]);
              return sum;
            },
            {.absolute = 1e-3});
}

} // namespace
