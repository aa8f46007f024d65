// Ways to copy and to multiply that a kernel demands: each has the same result.
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kSide = 32;

/// A product whose operands are loaded as `copy` says and multiplied as `mma` says.
auto product(CopyBy copy, Mma mma, Precision precision = Precision::tf32x3) {
  static const auto program =
      kernel("demands", [](In<any, 2> a, In<any, 2> b, Out<f32, 2> d, ConstOf<CopyBy> copy,
                           ConstOf<Mma> mma, ConstOf<Precision> precision) {
        auto [m, n] = grid2d(d, {kSide, kSide});
        auto sums = var(zeros(f32, {kSide, kSide}));
        for (auto k : range(cdiv(a.dim(1), kSide)))
          sums = dot(a.tile({kSide, kSide}).hints({.copy = copy})(m, k),
                     b.tile({kSide, kSide}).hints({.copy = copy})(k, n), sums,
                     {.precision = precision, .variant = mma});
        d.tile({kSide, kSide})(m, n) = sums;
      });
  return program.consts(copy, mma, precision);
}

class Demands : public StagedLoops {};

TEST_P(Demands, EveryWayHasTheSameResult) {
  for (CopyBy copy : {CopyBy::any, CopyBy::cp_async, CopyBy::vector, CopyBy::scalar})
    for (Mma mma : {Mma::any, Mma::mma_sync, Mma::fma}) {
      SCOPED_TRACE("copy " + std::to_string(static_cast<int>(copy)) + ", variant " +
                   std::to_string(static_cast<int>(mma)));
      constexpr int64_t kDepth = 3 * kSide;
      auto a = smallIntegers<half>(kSide * kDepth, 1), b = smallIntegers<half>(kDepth * kSide, 2);
      auto left = input<half>({kSide, kDepth}, a), right = input<half>({kDepth, kSide}, b);
      std::vector<float> zeros(kSide * kSide);
      auto result = input<float>({kSide, kSide}, zeros);
      auto check = [&] {
        std::vector<float> sums = result.download();
        for (int64_t i = 0; i < kSide * kSide; ++i) {
          double sum = 0;
          for (int64_t k = 0; k < kDepth; ++k)
            sum += exact(a[static_cast<size_t>(i / kSide * kDepth + k)]) *
                   exact(b[static_cast<size_t>(k * kSide + i % kSide)]);
          ASSERT_EQ(sums[static_cast<size_t>(i)], sum) << "element " << i;
        }
      };
      runUnderEverySchedule(product(copy, mma), 3, {Written(result, zeros)}, check, left, right,
                            result);
    }
}

STAGED_LOOPS_SUITE(Demands);

} // namespace
} // namespace tile::test
