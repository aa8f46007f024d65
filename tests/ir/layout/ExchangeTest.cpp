// Exchanges find the partner's place, element by element, in layouts that need no other warp.
#include "ir/layout/Exchange.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>

namespace tile::layout {
namespace {

using namespace test;

/// Every thread finds the element at coordinate ^ mask where the plan says.
void expectPartners(const Layout &layout, int axis, int32_t mask) {
  SCOPED_TRACE(layout.toString() + " axis " + std::to_string(axis) + " mask " +
               std::to_string(mask));
  std::optional<ExchangePlan> plan = planExchange(layout, axis, mask);
  ASSERT_TRUE(plan);
  for (int32_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int32_t lane = 0; lane < kLanesPerWarp; ++lane)
      for (int32_t reg = 0; reg < layout.numRegisters(); ++reg) {
        Coords partner = layout.apply(reg, lane, warp);
        partner[size_t(axis)] ^= mask;
        ASSERT_EQ(layout.apply(reg ^ plan->registers, lane ^ plan->lanes, warp), partner);
      }
}

TEST(Exchange, EveryLayoutBecomesExchangeable) {
  int changed = 0;
  for (const Shape &shape : allShapes(2, {1, 2, 4, 12, 128}))
    for (int64_t warps : {1, 4})
      for (const Layout &source : sampleLayouts(shape, warps))
        for (int axis = 0; axis < source.rank(); ++axis)
          for (auto linear = static_cast<int32_t>(source.pow2Shape()[size_t(axis)]);
               int32_t mask : {linear - 1, linear / 2}) {
            if (mask >= linear)
              continue;
            Layout result = exchangeable(source, axis, mask);
            ASSERT_TRUE(result.isSurjective()) << result.toString();
            ASSERT_EQ(result.shape(), source.shape());
            ASSERT_EQ(exchangeable(result, axis, mask), result);
            expectPartners(result, axis, mask);
            changed += result != source;
          }
  EXPECT_GT(changed, 0);
}

TEST(Exchange, StaysWhereNoWarpIsCrossed) {
  Layout rows = Layout::coalesced({8, 128}, {1, 0}, 4, 4);
  EXPECT_EQ(exchangeable(rows, 1, 127), rows);
  std::optional<ExchangePlan> plan = planExchange(rows, 1, 127);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->registers, 3);
  EXPECT_EQ(plan->lanes, 31);
  EXPECT_FALSE(planExchange(rows, 0, 7));
}

} // namespace
} // namespace tile::layout
