// Operands that the copy engine of sm_90a brings: views of all ranks, permuted, cut and without elements, of every width of
// elements. The same kernels run as sm_80 too, by copies of threads.
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kSide = 32;

/// Element (i, j) of a list of matrices one after the other, `columns` wide.
template <class T> double at(const std::vector<T> &values, int64_t columns, int64_t i, int64_t j) {
  return exact(values[static_cast<size_t>(i * columns + j)]);
}

class TensorCopies : public StagedLoops {
protected:
  /// Does the program, compiled for these tensors as sm_90a, use the copy engine?
  template <class Launcher, class... X>
  static bool isByTma(const Launcher &launcher, const X &...tensors) {
    return has(hopperPtxOf(launcher, tensors...), "cp.async.bulk.tensor");
  }

  /// Rows begin at multiples of 16 bytes.
  template <class T> static int64_t pitchOf(int64_t columns) {
    constexpr int64_t kElements = 16 / sizeof(T);
    return (columns + kElements - 1) / kElements * kElements;
  }

  /// The product of matrices of elements T, which need not end where a chunk of 16 bytes does.
  template <class T, class Sum> void multiply(int64_t m, int64_t n, int64_t k) {
    static const auto program =
        kernel("copied_product", [](In<any, 2> a, In<any, 2> b, Out<any, 2> d) {
          auto [m, n] = grid2d(d, {kSide, kSide});
          auto sums = var(zeros(d.dtype(), {kSide, kSide}));
          for (auto k : range(cdiv(a.dim(1), kSide)).stages(3))
            sums = dot(a.tile({kSide, kSide})(m, k), b.tile({kSide, kSide})(k, n), sums);
          d.tile({kSide, kSide})(m, n) = sums;
        });
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + std::to_string(m) + "x" +
                 std::to_string(n) + "x" + std::to_string(k));
    int64_t pitchA = pitchOf<T>(k), pitchB = pitchOf<T>(n);
    auto a = smallIntegers<T>(m * pitchA, 1), b = smallIntegers<T>(k * pitchB, 2);
    auto left = input<T>({m * pitchA}, a).withStrides({m, k}, {pitchA, 1}),
         right = input<T>({k * pitchB}, b).withStrides({k, n}, {pitchB, 1});
    std::vector<Sum> zeros(static_cast<size_t>(m * n));
    auto sums = input<Sum>({m, n}, zeros);
    if (isHopper())
      EXPECT_TRUE(isByTma(program, left, right, sums));
    auto expected = [&](int64_t i) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += at(a, pitchA, i / n, l) * at(b, pitchB, l, i % n);
      return sum;
    };
    runUnderEverySchedule(
        program, 3, {Written(sums, zeros)}, [&] { expectAll(sums, expected); }, left, right, sums);
  }
};

// Those whose rows are a multiple of 16 bytes; by tensor cores and by multiply-adds.
TEST_P(TensorCopies, EveryWidthOfElements) {
  for (int cut : {0, 7}) {
    multiply<half, float>(kSide - cut, 2 * kSide - cut, 3 * kSide - cut);
    multiply<bfloat16, float>(kSide - cut, kSide, 3 * kSide - cut);
    multiply<float, float>(kSide - cut, kSide, 3 * kSide - cut);
    multiply<int8_t, int32_t>(kSide - cut, kSide, 3 * kSide - cut);
  }
}

TEST_P(TensorCopies, NothingToMultiply) { multiply<half, float>(kSide, kSide, 0); }

// A batch of matrices, heads in groups that share one, and a view whose dimensions come in another order than memory's.
TEST_P(TensorCopies, ManyDimensions) {
  static const auto program =
      kernel("many_dimensions", [](In<f16, 4> a, In<f16, 4> b, Out<f32, 4> d) {
        Value columns = cdiv(d.dim(3), kSide), place = grid1d(d.dim(0) * d.dim(1) * columns, 1);
        Value batch = place / columns / d.dim(1), head = place / columns % d.dim(1),
              column = place % columns;
        auto sums = var(zeros(f32, {kSide, kSide}));
        for (auto k : range(cdiv(a.dim(3), kSide)).stages(3))
          sums = dot(reshape(a.tile({1, 1, kSide, kSide})(batch, head, 0, k), {kSide, kSide}),
                     reshape(b.tile({1, 1, kSide, kSide})(batch, head, k, column), {kSide, kSide}),
                     sums);
        d.tile({1, 1, kSide, kSide})(batch, head, 0, column) = reshape(sums, {1, 1, kSide, kSide});
      });
  constexpr int64_t kBatches = 2, kHeads = 2, kDepth = 3 * kSide - 8, kColumns = 2 * kSide;
  auto a = smallIntegers<half>(kBatches * kHeads * kSide * kDepth, 1),
       b = smallIntegers<half>(kBatches * kDepth * kColumns, 2);
  // Rows of all heads lie beside each other; one matrix of b serves all heads.
  auto left = input<half>({kBatches, kSide, kHeads, kDepth}, a)
                  .withStrides({kBatches, kHeads, kSide, kDepth},
                               {kSide * kHeads * kDepth, kDepth, kHeads * kDepth, 1});
  auto right =
      input<half>({kBatches, kDepth, kColumns}, b)
          .withStrides({kBatches, kHeads, kDepth, kColumns}, {kDepth * kColumns, 0, kColumns, 1});
  std::vector<float> zeros(kBatches * kHeads * kSide * kColumns);
  auto sums = input<float>({kBatches, kHeads, kSide, kColumns}, zeros);
  if (isHopper())
    EXPECT_TRUE(isByTma(program, left, right, sums));
  auto expected = [&](int64_t i) {
    int64_t column = i % kColumns, row = i / kColumns % kSide, head = i / kColumns / kSide % kHeads,
            batch = i / kColumns / kSide / kHeads;
    double sum = 0;
    for (int64_t k = 0; k < kDepth; ++k)
      sum += at(a, kDepth, (batch * kSide + row) * kHeads + head, k) *
             at(b, kColumns, batch * kDepth + k, column);
    return sum;
  };
  runUnderEverySchedule(
      program, 3, {Written(sums, zeros)}, [&] { expectAll(sums, expected); }, left, right, sums);
}

// What lies outside of a tensor is zero, also of one that has no elements at all.
TEST_P(TensorCopies, TensorsWithoutElements) {
  static constexpr int kSteps = 3;
  static const auto program =
      kernel("without_elements", [](In<f16, 2> a, In<f16, 2> b, InOut<f32, 2> d) {
        auto sums = var(d.tile({kSide, kSide})(0, 0));
        for (auto k : range(kSteps).stages(3))
          sums = dot(a.tile({kSide, kSide})(0, k), b.tile({kSide, kSide})(k, 0), sums);
        d.tile({kSide, kSide})(0, 0) = sums;
      });
  auto initial = smallIntegers<float>(kSide * kSide, 3);
  auto sums = input<float>({kSide, kSide}, initial);
  auto filled = input<half>({kSide, 3 * kSide}, smallIntegers<half>(kSide * 3 * kSide, 1));
  auto empty = input<half>({0, kSide}, {});
  runUnderEverySchedule(
      program.grid(1), 3, {Written(sums, initial)},
      [&] { expectAll(sums, [&](int64_t i) { return initial[static_cast<size_t>(i)]; }); }, filled,
      empty, sums);
}

// A loop inside another: the engine's barriers are made anew each time, and other tiles lie in the ring's memory between.
TEST_P(TensorCopies, LoopsInLoops) {
  static const auto program =
      kernel("copies_in_nest", [](In<f16, 3> a, In<f16, 2> b, Out<f16, 3> d) {
        for (auto i : range(a.dim(0))) {
          auto sums = var(zeros(f32, {kSide, kSide}));
          for (auto k : range(cdiv(a.dim(2), kSide)).stages(3))
            sums = dot(reshape(a.tile({1, kSide, kSide})(i, 0, k), {kSide, kSide}),
                       b.tile({kSide, kSide})(k, 0), sums);
          d.tile({1, kSide, kSide})(i, 0, 0) = reshape(cast(f16, sums), {1, kSide, kSide});
        }
      });
  constexpr int64_t kMatrices = 3;
  for (int64_t depth : {1 * kSide, 2 * kSide, 5 * kSide}) {
    auto a = smallIntegers<half>(kMatrices * kSide * depth, 1),
         b = smallIntegers<half>(depth * kSide, 2);
    auto left = input<half>({kMatrices, kSide, depth}, a), right = input<half>({depth, kSide}, b);
    std::vector<half> zeros(kMatrices * kSide * kSide);
    auto sums = input<half>({kMatrices, kSide, kSide}, zeros);
    if (isHopper())
      EXPECT_TRUE(isByTma(program.grid(1), left, right, sums));
    auto expected = [&](int64_t i) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum += at(a, depth, i / kSide, k) * at(b, kSide, k, i % kSide);
      return half(static_cast<float>(sum));
    };
    runUnderEverySchedule(
        program.grid(1), 3, {Written(sums, zeros)}, [&] { expectAll(sums, expected); }, left, right,
        sums);
  }
}

STAGED_LOOPS_SUITE(TensorCopies);

} // namespace
} // namespace tile::test
