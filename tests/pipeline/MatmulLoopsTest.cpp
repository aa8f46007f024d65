// Matrix products in a staged loop over K: numbers of stages and steps, tiles that reach over the edges, dtypes, and both
// orders in memory of either operand.
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kM = 64, kN = 32;

const auto &matmul() {
  static const auto program = kernel(
      "staged_matmul", [](In<any, 2> a, In<any, 2> b, Out<f32, 2> d, Const depth, Const stages) {
        auto [m, n] = grid2d(d, {kM, kN});
        auto sums = var(zeros(f32, {kM, kN}));
        for (auto k : range(cdiv(a.dim(1), depth)).stages(stages))
          sums = dot(a.tile({kM, depth})(m, k), b.tile({depth, kN})(k, n), sums);
        d.tile({kM, kN})(m, n) = sums;
      });
  return program;
}

/// How a product's tiles lie on its tensors.
enum class Edges {
  Even,   ///< every tile is whole
  Padded, ///< tiles reach over all edges, rows begin at multiples of 16 elements
  Dense ///< tiles reach over all edges, rows follow each other: their addresses are aligned to one element
};

struct Orders {
  bool aByColumns = false, bByColumns = false;
};

/// A matrix in memory, by rows or by columns.
template <class T> struct Matrix {
  int64_t rows, columns;
  int64_t rowStride, columnStride;
  std::vector<T> values;

  Matrix(int64_t rows, int64_t columns, bool byColumns, Edges edges, uint64_t seed)
      : rows(rows), columns(columns) {
    int64_t inner = byColumns ? rows : columns, outer = byColumns ? columns : rows;
    int64_t pitch = std::max<int64_t>(edges == Edges::Padded ? (inner + 15) / 16 * 16 : inner, 1);
    rowStride = byColumns ? 1 : pitch, columnStride = byColumns ? pitch : 1;
    values = smallIntegers<T>(std::max<int64_t>(pitch * outer, 1), seed);
  }
  double operator()(int64_t row, int64_t column) const {
    return exact(values[static_cast<size_t>(row * rowStride + column * columnStride)]);
  }
};

std::vector<double> dotOf(const auto &a, const auto &b) {
  std::vector<double> sums(static_cast<size_t>(a.rows * b.columns));
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.columns; ++k)
      for (int64_t j = 0, row = i * b.columns; j < b.columns; ++j)
        sums[static_cast<size_t>(row + j)] += a(i, k) * b(k, j);
  return sums;
}

class MatmulLoops : public StagedLoops {
protected:
  template <class T>
  void multiply(int stages, int steps, Edges edges, Orders orders = {}, bool isChecked = false) {
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + ", " + std::to_string(stages) + " stages, " +
                 std::to_string(steps) + " steps, edges " + std::to_string(int(edges)) +
                 ", orders " + std::to_string(orders.aByColumns) +
                 std::to_string(orders.bByColumns));
    const int depth = sizeof(T) == 4 ? 16 : 32;
    bool isEven = edges == Edges::Even;
    int64_t m = isEven ? kM : kM + 5, n = isEven ? kN : kN - 3,
            k = isEven || steps == 0 ? steps * depth : steps * depth - 7;
    Matrix<T> a(m, k, orders.aByColumns, edges, 1), b(k, n, orders.bByColumns, edges, 2);
    std::vector<double> expected = dotOf(a, b);
    auto sums = input<float>({m, n}, std::vector<float>(static_cast<size_t>(m * n)));
    auto program = matmul().consts(depth, stages).checked(isChecked);
    runUnderEverySchedule(
        program, steps, {Written(sums, smallIntegers<float>(m * n, 3))},
        [&] { expectAll(sums, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }); },
        tensorOf(a), tensorOf(b), sums);
  }

  template <class T> TensorOf<T> tensorOf(const Matrix<T> &matrix) const {
    auto memory = input<T>({static_cast<int64_t>(matrix.values.size())}, matrix.values);
    return memory.withStrides({matrix.rows, matrix.columns},
                              {matrix.rowStride, matrix.columnStride});
  }
};

TEST_P(MatmulLoops, EveryNumberOfStages) {
  for (int stages : {1, 2, 3, 4, 5})
    for (int steps : iterationsAround(stages))
      for (Edges edges : {Edges::Even, Edges::Padded})
        multiply<half>(stages, steps, edges);
}

// Copies that no instruction makes asynchronously, since addresses are aligned to one element.
TEST_P(MatmulLoops, RowsOfOddLengths) {
  for (int steps : iterationsAround(3)) {
    multiply<half>(3, steps, Edges::Dense);
    multiply<float>(3, steps, Edges::Dense);
  }
}

TEST_P(MatmulLoops, EveryOrderInMemory) {
  for (Orders orders : {Orders{true, false}, Orders{false, true}, Orders{true, true}})
    for (int steps : {0, 2, 7})
      for (Edges edges : {Edges::Even, Edges::Padded})
        multiply<half>(3, steps, edges, orders);
}

TEST_P(MatmulLoops, OtherDtypes) {
  for (Orders orders : {Orders{false, false}, Orders{true, true}})
    for (int steps : {1, 3, 7}) {
      multiply<bfloat16>(3, steps, Edges::Padded, orders);
      multiply<float>(3, steps, Edges::Padded, orders);
    }
}

TEST_P(MatmulLoops, CheckedBuilds) {
  for (int stages : {2, 3})
    for (int steps : {0, 1, 7})
      multiply<half>(stages, steps, Edges::Padded, {}, /*isChecked=*/true);
}

// Sixteen slots of 24 KiB are more than any GPU has: the loop runs with as many as fit.
TEST_P(MatmulLoops, MoreStagesThanFit) {
  constexpr int kDepth = 128, kSteps = 7;
  Matrix<half> a(kM, kSteps * kDepth, false, Edges::Even, 1),
      b(kSteps * kDepth, kN, false, Edges::Even, 2);
  std::vector<double> expected = dotOf(a, b);
  auto sums = input<float>({kM, kN}, std::vector<float>(kM * kN));
  runUnderEverySchedule(
      matmul().consts(kDepth, 16), kSteps, {Written(sums, smallIntegers<float>(kM * kN, 3))},
      [&] { expectAll(sums, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }); },
      tensorOf(a), tensorOf(b), sums);
}

// Sums of real numbers depend on their order, which running ahead must not change.
TEST_P(MatmulLoops, RealNumbersHaveTheSameBitsWithoutThePasses) {
  if (!hasPipelinePasses())
    GTEST_SKIP() << "no pass runs loads ahead";
  auto a = input<half>({kM, 224}, uniform<half>(kM * 224, -1, 1, 1)),
       b = input<half>({224, kN}, uniform<half>(224 * kN, -1, 1, 2));
  auto sums = input<float>({kM, kN}, std::vector<float>(kM * kN));
  runUnderEverySchedule(
      matmul().consts(32, 3), kMostSteps, {Written(sums, std::vector<float>(kM * kN))}, [] {}, a, b,
      sums);
}

STAGED_LOOPS_SUITE(MatmulLoops);

} // namespace
} // namespace tile::test
