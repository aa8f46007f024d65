// Ways to copy and to multiply that a kernel demands: each has the same result.
#include "tests/pipeline/DemandedProduct.h"
#include "tests/pipeline/ReferenceProduct.h"
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kSide = kDemandedSide;

class Demands : public StagedLoops {};

TEST_P(Demands, EveryWayHasTheSameResult) {
  std::vector<CopyBy> copies = {CopyBy::any, CopyBy::cp_async, CopyBy::vector, CopyBy::scalar};
  if (GetParam() == "sm_90a")
    copies.push_back(CopyBy::tma);
  for (CopyBy copy : copies)
    for (Mma mma : {Mma::any, Mma::mma_sync, Mma::fma}) {
      SCOPED_TRACE("copy " + std::to_string(static_cast<int>(copy)) + ", variant " +
                   std::to_string(static_cast<int>(mma)));
      constexpr int64_t kDepth = 3 * kSide;
      auto a = smallIntegers<half>(kSide * kDepth, 1), b = smallIntegers<half>(kDepth * kSide, 2);
      auto left = input<half>({kSide, kDepth}, a), right = input<half>({kDepth, kSide}, b);
      std::vector<float> zeros(kSide * kSide);
      auto result = input<float>({kSide, kSide}, zeros);
      ReferenceProduct expected(a, b, kDepth, kSide);
      auto check = [&] {
        std::vector<float> sums = result.download();
        for (int64_t i = 0; i < kSide * kSide; ++i) {
          ASSERT_EQ(sums[static_cast<size_t>(i)], expected(i)) << "element " << i;
        }
      };
      runUnderEverySchedule(demandedProduct(copy, mma), 3, {Written(result, zeros)}, check, left,
                            right, result);
    }
}

STAGED_LOOPS_SUITE(Demands);

} // namespace
} // namespace tile::test
