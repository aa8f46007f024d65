// Tiles that products take with rows for columns, beside products that take them as they are: one tile in shared memory serves
// both, whether the program transposes the tile or loads it once more from the transposed tensor.
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

class TransposedTiles : public StagedLoops {
protected:
  static int64_t countOf(const std::string &text, const std::string &part) {
    int64_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++count;
    return count;
  }
};

/// Elements of a row-major matrix.
template <class T> class Matrix {
public:
  Matrix(int64_t rows, int64_t columns, uint64_t seed)
      : columns_(columns), values_(smallIntegers<T>(rows * columns, seed)) {}
  double at(int64_t row, int64_t column) const {
    return exact(values_[static_cast<size_t>(row * columns_ + column)]);
  }
  const std::vector<T> &values() const { return values_; }

private:
  int64_t columns_;
  std::vector<T> values_;
};

/// Of x, rows x columns: the sums over its rows of the products of two of its columns.
const auto &gram() {
  static const auto program =
      kernel("gram", [](In<any, 2> x, Out<any, 2> d, Const columns, Const depth, Const stages,
                        ConstOf<bool> isLoadedTwice) {
        auto sums = var(zeros(d.dtype(), {columns, columns}));
        for (auto k : range(cdiv(x.dim(0), depth)).stages(stages)) {
          Value tile = x.tile({depth, columns})(k, 0);
          Value rows = isLoadedTwice ? Value(x.T().tile({columns, depth})(0, k)) : trans(tile);
          sums = dot(rows, tile, sums, {.precision = Precision::tf32});
        }
        d.tile({columns, columns})(0, 0) = sums;
      });
  return program;
}

TEST_P(TransposedTiles, OfOneProduct) {
  auto multiply = [&]<class T, class Sum>(int columns, int depth, int warps, int rows, T, Sum) {
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + std::to_string(columns) + " columns, " +
                 std::to_string(depth) + " rows a step of " + std::to_string(rows));
    Matrix<T> matrix(rows, columns, 1);
    std::vector<Sum> before(static_cast<size_t>(columns * columns));
    auto x = input<T>({rows, columns}, matrix.values());
    auto d = input<Sum>({columns, columns}, before);
    auto expected = [&](int64_t i) {
      double sum = 0;
      for (int64_t k = 0; k < rows; ++k)
        sum += matrix.at(k, i / columns) * matrix.at(k, i % columns);
      return sum;
    };
    for (bool isLoadedTwice : {false, true})
      runUnderEverySchedule(
          gram().consts(columns, depth, 3, isLoadedTwice).warps(warps).grid(1), 3,
          {Written(d, before)}, [&] { expectAll(d, expected); }, x, d);
  };
  multiply(64, 32, 4, 5 * 32, half(), float());
  multiply(128, 64, 8, 5 * 64 - 8, bfloat16(), float());
  multiply(48, 16, 4, 4 * 16 - 3, half(), float());
  multiply(64, 32, 4, 5 * 32, float(), float());
  multiply(64, 32, 4, 5 * 32, int8_t(), int32_t());
  multiply(64, 32, 4, 5 * 32, float8_e4m3(), float());
}

// As weights often lie: products take their rows as columns.
TEST_P(TransposedTiles, AreRightFactors) {
  static const auto program = kernel("rows_by_rows", [](In<any, 2> a, In<any, 2> b, Out<any, 2> d,
                                                        Const rows, Const columns, Const depth) {
    auto sums = var(zeros(d.dtype(), {rows, columns}));
    for (auto k : range(cdiv(a.dim(1), depth)).stages(3))
      sums = dot(a.tile({rows, depth})(0, k), trans(b.tile({columns, depth})(0, k)), sums);
    d.tile({rows, columns})(0, 0) = sums;
  });
  auto multiply = [&]<class T, class Sum>(int depth, T, Sum) {
    SCOPED_TRACE(nameOf(dtypeOf<T>));
    constexpr int kRows = 64, kColumns = 32;
    int64_t count = 5 * depth;
    Matrix<T> left(kRows, count, 1), right(kColumns, count, 2);
    std::vector<Sum> before(kRows * kColumns);
    auto a = input<T>({kRows, count}, left.values()),
         b = input<T>({kColumns, count}, right.values());
    auto d = input<Sum>({kRows, kColumns}, before);
    auto expected = [&](int64_t i) {
      double sum = 0;
      for (int64_t k = 0; k < count; ++k)
        sum += left.at(i / kColumns, k) * right.at(i % kColumns, k);
      return sum;
    };
    auto launcher = program.consts(kRows, kColumns, depth).warps(4).grid(1);
    if (isHopper())
      EXPECT_TRUE(has(hopperPtxOf(launcher, a, b, d), "wgmma.mma_async"));
    runUnderEverySchedule(
        launcher, 3, {Written(d, before)}, [&] { expectAll(d, expected); }, a, b, d);
  };
  multiply(32, half(), float());
  multiply(64, int8_t(), int32_t());
  multiply(64, float8_e5m2(), float());
}

/// y = f(q x') x, as attention without its maxima, by tiles of rows of x.
const auto &bothWays() {
  static const auto program =
      kernel("both_ways", [](In<any, 2> q, In<any, 2> x, Out<f32, 2> y, Const rows, Const depth,
                             Const columns, Const stages) {
        Value left = q.tile({rows, columns})(0, 0);
        auto sums = var(zeros(f32, {rows, columns}));
        for (auto n : range(cdiv(x.dim(0), depth)).stages(stages)) {
          Value scores = dot(left, x.T().tile({columns, depth})(0, n));
          sums = dot(cast(q.dtype(), scores), x.tile({depth, columns})(n, 0), sums);
        }
        y.tile({rows, columns})(0, 0) = sums;
      });
  return program;
}

TEST_P(TransposedTiles, OfTwoProducts) {
  constexpr int kRows = 64, kColumns = 64;
  for (int stages : {2, 3})
    for (auto [depth, steps] : {std::pair(32, 1), {32, stages}, {32, 7}, {80, 3}}) {
      SCOPED_TRACE(std::to_string(depth) + " rows, " + std::to_string(stages) + " stages, " +
                   std::to_string(steps) + " steps");
      int64_t count = static_cast<int64_t>(depth) * steps - 3;
      Matrix<half> left(kRows, kColumns, 1), matrix(count, kColumns, 2);
      std::vector<float> before(kRows * kColumns);
      auto q = input<half>({kRows, kColumns}, left.values()),
           x = input<half>({count, kColumns}, matrix.values());
      auto y = input<float>({kRows, kColumns}, before);
      std::vector<double> scores(static_cast<size_t>(kRows * count));
      for (int64_t i = 0; i < kRows * count; ++i)
        for (int64_t k = 0; k < kColumns; ++k)
          scores[static_cast<size_t>(i)] += left.at(i / count, k) * matrix.at(i % count, k);
      auto expected = [&](int64_t i) {
        double sum = 0;
        for (int64_t n = 0; n < count; ++n)
          sum += scores[static_cast<size_t>(i / kColumns * count + n)] * matrix.at(n, i % kColumns);
        return sum;
      };
      auto launcher = bothWays().consts(kRows, depth, kColumns, stages).warps(4).grid(1);
      runUnderEverySchedule(
          launcher, steps, {Written(y, before)}, [&] { expectAll(y, expected); }, q, x, y);
    }
}

// What the copy engine brings, it brings once.
TEST_P(TransposedTiles, ComeOnce) {
  if (!isHopper())
    GTEST_SKIP() << "kernels of sm_80 have no copy engine";
  Matrix<half> left(64, 64, 1), matrix(256, 64, 2);
  std::vector<float> before(64 * 64);
  auto q = input<half>({64, 64}, left.values()), x = input<half>({256, 64}, matrix.values());
  auto y = input<float>({64, 64}, before);
  std::string ptx = hopperPtxOf(bothWays().consts(64, 32, 64, 2).warps(4), q, x, y);
  EXPECT_EQ(countOf(ptx, "cp.async.bulk.tensor"), 2) << "before the loop and in it";
  EXPECT_TRUE(has(ptx, "wgmma.mma_async"));
  for (bool isLoadedTwice : {false, true}) {
    auto d = input<float>({64, 64}, before);
    std::string gramPtx = hopperPtxOf(gram().consts(64, 32, 2, isLoadedTwice).warps(4), x, d);
    EXPECT_EQ(countOf(gramPtx, "cp.async.bulk.tensor"), 2);
    EXPECT_TRUE(has(gramPtx, "wgmma.mma_async"));
  }
}

// y = w' f(w x): w comes before the loop, and what the second product takes on the right is the first one's result.
TEST_P(TransposedTiles, FromBeforeTheLoop) {
  static const auto program =
      kernel("there_and_back", [](In<any, 2> w, In<any, 2> x, Out<f32, 2> y, Const rows,
                                  Const inner, Const columns, Const stages) {
        Value kept = w.tile({inner, rows})(0, 0);
        for (auto n : range(cdiv(x.dim(1), columns)).stages(stages)) {
          Value there = dot(kept, x.tile({rows, columns})(0, n));
          y.tile({rows, columns})(0, n) = dot(trans(kept), cast(w.dtype(), there));
        }
      });
  constexpr int kRows = 128, kInner = 64;
  for (auto [columns, warps] : {std::pair(32, 4), {80, 8}}) {
    SCOPED_TRACE(std::to_string(columns) + " columns, " + std::to_string(warps) + " warps");
    int64_t count = 4 * columns - 5;
    Matrix<bfloat16> weights(kInner, kRows, 1), matrix(kRows, count, 2);
    std::vector<float> before(static_cast<size_t>(kRows * count));
    auto w = input<bfloat16>({kInner, kRows}, weights.values()),
         x = input<bfloat16>({kRows, count}, matrix.values());
    auto y = input<float>({kRows, count}, before);
    std::vector<double> there(static_cast<size_t>(kInner * count));
    for (int64_t i = 0; i < kInner * count; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < kRows; ++k)
        sum += weights.at(i / count, k) * matrix.at(k, i % count);
      there[static_cast<size_t>(i)] = exact(bfloat16(static_cast<float>(sum)));
    }
    auto expected = [&](int64_t i) {
      double sum = 0;
      for (int64_t l = 0; l < kInner; ++l)
        sum += weights.at(l, i / count) * there[static_cast<size_t>(l * count + i % count)];
      return sum;
    };
    auto launcher = program.consts(kRows, kInner, columns, 2).warps(warps).grid(1);
    runUnderEverySchedule(
        launcher, 4, {Written(y, before)}, [&] { expectAll(y, expected); }, w, x, y);
  }
}

STAGED_LOOPS_SUITE(TransposedTiles);

} // namespace
} // namespace tile::test
