// Staged loops over tiles whose extents are odd multiples of the tensor core's: rows of an odd number of 16 bytes in shared
// memory, batches of matrices that are no power of two apart, operands that are converted between load and product, and
// operands that come from the loop around.
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kSteps = 3;

struct Extents {
  int m, n, k;
};

class OddExtents : public StagedLoops {
protected:
  /// The sum over k of a[t][i][k] * b[t][k][j], of element i of a batch of products; `b` may lie transposed in memory.
  template <class A, class B>
  static double sumOf(const std::vector<A> &a, const std::vector<B> &b, Extents s,
                      bool isTransposed, int64_t i) {
    int64_t matrix = i / (s.m * s.n), row = i / s.n % s.m, column = i % s.n;
    double sum = 0;
    for (int64_t k = 0; k < s.k; ++k)
      sum += exact(a[static_cast<size_t>((matrix * s.m + row) * s.k + k)]) *
             exact(b[static_cast<size_t>(matrix * s.k * s.n +
                                         (isTransposed ? column * s.k + k : k * s.n + column))]);
    return sum;
  }

  /// Expects these sums of a kernel of tensors of three dimensions.
  template <class A, class B, class Launcher>
  void expectProducts(const Launcher &program, int64_t batch, Extents s, bool isTransposed) {
    auto a = smallIntegers<A>(batch * s.m * s.k, 1);
    auto b = smallIntegers<B>(batch * s.k * s.n, 2);
    std::vector<float> zeros(static_cast<size_t>(batch * s.m * s.n));
    auto sums = input<float>({batch, s.m, s.n}, zeros);
    auto expected = [&](int64_t i) { return sumOf(a, b, s, isTransposed, i); };
    int64_t rows = isTransposed ? s.n : s.k, columns = isTransposed ? s.k : s.n;
    runUnderEverySchedule(
        program, kSteps, {Written(sums, zeros)}, [&] { expectAll(sums, expected); },
        input<A>({batch, s.m, s.k}, a), input<B>({batch, rows, columns}, b), sums);
  }
};

template <class T> const auto &product() {
  static const auto program = kernel("odd_product", [](In<dtypeOf<T>, 3> A, In<dtypeOf<T>, 3> B,
                                                       Out<f32, 3> C, Const M, Const N, Const K) {
    auto sums = var(zeros(f32, {M, N}));
    for (auto k : range(cdiv(A.dim(2), K)))
      sums = dot(reshape(A.tile({1, M, K})(0, 0, k), {M, K}),
                 reshape(B.tile({1, K, N})(0, k, 0), {K, N}), sums, {.precision = Precision::tf32});
    C.tile({1, M, N})(0, 0, 0) = reshape(sums, {1, M, N});
  });
  return program;
}

// 24, 40, 56 and 72 elements of 16 bits, 12, 20 and 28 of 32 bits: rows of either operand.
TEST_P(OddExtents, RowsOfEitherOperand) {
  for (auto [m, n, k] :
       {Extents{16, 24, 16}, {16, 56, 16}, {64, 72, 32}, {16, 16, 24}, {16, 8, 40}})
    expectProducts<half, half>(product<half>().consts(m, n, k).grid(1), 1, {m, n, k * kSteps},
                               false);
  for (auto [m, n, k] : {Extents{16, 12, 16}, {16, 8, 20}, {64, 40, 24}})
    expectProducts<float, float>(product<float>().consts(m, n, k).grid(1), 1, {m, n, k * kSteps},
                                 false);
}

TEST_P(OddExtents, BatchesOfMatrices) {
  static const auto program =
      kernel("odd_batches", [](In<f16, 3> A, In<f16, 3> B, Out<f32, 3> C, Const T, Const M) {
        auto sums = var(zeros(f32, {T, M, 16}));
        for (auto k : range(cdiv(A.dim(2), 16)))
          sums = dot(A.tile({T, M, 16})(0, 0, k), B.tile({T, 16, 16})(0, k, 0), sums);
        C.tile({T, M, 16})(0, 0, 0) = sums;
      });
  for (auto [batch, m] : {std::pair{3, 48}, {4, 48}, {8, 80}}) {
    auto launcher = program.consts(batch, m).grid(1);
    expectProducts<half, half>(launcher, batch, {m, 16, 16 * kSteps}, false);
  }
}

template <class B> const auto &converted() {
  static const auto program = kernel(
      "converted_operand", [](In<f16, 3> A, In<dtypeOf<B>, 3> W, Out<f32, 3> C, Const N, Const K) {
        auto sums = var(zeros(f32, {64, N}));
        for (auto k : range(cdiv(A.dim(2), K))) {
          Value w = reshape(W.tile({1, N, K})(0, 0, k), {N, K});
          sums = dot(reshape(A.tile({1, 64, K})(0, 0, k), {64, K}), trans(cast(f16, w)), sums);
        }
        C.tile({1, 64, N})(0, 0, 0) = reshape(sums, {1, 64, N});
      });
  return program;
}

template <class B> const auto &convertedView() {
  static const auto program = kernel(
      "converted_view", [](In<f16, 2> A, In<dtypeOf<B>, 2> W, Out<f32, 2> C, Const N, Const K) {
        auto sums = var(zeros(f32, {64, N}));
        for (auto k : range(cdiv(A.dim(1), K)))
          sums = dot(A.tile({64, K})(0, k), cast(f16, W.T().tile({K, N})(k, 0)), sums);
        C.tile({64, N})(0, 0) = sums;
      });
  return program;
}

/// Operands whose rows in memory run along K, converted behind their load.
class ConvertedOperands : public OddExtents {
protected:
  template <class B> void check(int n) {
    constexpr int kDepth = 32, kK = kDepth * kSteps;
    SCOPED_TRACE(std::string(nameOf(dtypeOf<B>)) + ", N " + std::to_string(n));
    auto launcher = converted<B>().consts(n, kDepth).grid(1);
    expectProducts<half, B>(launcher, 1, {64, n, kK}, true);
    auto a = smallIntegers<half>(64 * kK, 1);
    auto w = smallIntegers<B>(n * kK, 2);
    std::vector<float> zeros(static_cast<size_t>(64 * n));
    auto sums = input<float>({64, n}, zeros);
    auto expected = [&](int64_t i) { return sumOf(a, w, {64, n, kK}, true, i); };
    runUnderEverySchedule(
        convertedView<B>().consts(n, kDepth).grid(1), kSteps, {Written(sums, zeros)},
        [&] { expectAll(sums, expected); }, input<half>({64, kK}, a), input<B>({n, kK}, w), sums);
  }
};

TEST_P(ConvertedOperands, NOfEveryMultipleOfEight) {
  for (int n : {8, 16, 24, 40})
    check<int8_t>(n);
  check<float8_e4m3>(24);
  check<float>(24);
}

// B is loaded once in each round of the outer loop: its order in memory is that of its view, whoever loads it.
TEST_P(OddExtents, OperandsOfTheLoopAround) {
  static const auto program =
      kernel("outer_operand", [](In<f16, 3> A, In<f16, 3> W, Out<f32, 3> C, Const N) {
        auto sums = var(zeros(f32, {64, N}));
        for (auto k : range(cdiv(A.dim(2), 32))) {
          Value w = reshape(W.tile({1, N, 32})(0, 0, k), {N, 32}); // rows along K
          for (auto step : range(A.dim(0)))                        // once
            sums = dot(reshape(A.tile({1, 64, 32})(step, 0, k), {64, 32}), trans(w), sums);
        }
        C.tile({1, 64, N})(0, 0, 0) = reshape(sums, {1, 64, N});
      });
  for (int n : {16, 24}) {
    auto launcher = program.consts(n).grid(1);
    expectProducts<half, half>(launcher, 1, {64, n, 32 * kSteps}, true);
  }
}

STAGED_LOOPS_SUITE(OddExtents);
STAGED_LOOPS_SUITE(ConvertedOperands);

} // namespace
} // namespace tile::test
