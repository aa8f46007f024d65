// Claims about layouts and their builders, checked element by element.
#include "ir/layout/Layout.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tile::layout {
namespace {

using namespace test;

const std::vector<int64_t> kSizes{1, 2, 3, 4, 6, 8};

void forAllSamples(const std::function<void(const Layout &)> &check) {
  for (const Shape &shape : allShapes(3, kSizes)) {
    for (int64_t warps : {1, 2, 4}) {
      if (shape.size() == 3 && warps == 2)
        continue;
      for (const Layout &layout : sampleLayouts(shape, warps)) {
        SCOPED_TRACE(layout.toString());
        check(layout);
        if (testing::Test::HasFatalFailure())
          return;
      }
    }
  }
}

/// Each element is held, and without the free bits exactly once.
void expectBijectiveModuloFreeBits(const Layout &layout) {
  uint32_t freeRegisters = layout.freeMask(In::Register), freeLanes = layout.freeMask(In::Lane),
           freeWarps = layout.freeMask(In::Warp);
  std::vector<int> holders(static_cast<size_t>(elementCount(layout.shape())), 0);
  int64_t places = 0;
  forEachPlace(layout, [&](int32_t reg, int32_t lane, int32_t warp) {
    auto inLinear = static_cast<uint32_t>(reg) & ((1u << layout.registerBits()) - 1);
    if (inLinear & freeRegisters || static_cast<uint32_t>(lane) & freeLanes ||
        static_cast<uint32_t>(warp) & freeWarps)
      return;
    ++places;
    Coords coords = layout.apply(reg, lane, warp);
    ++holders.at(static_cast<size_t>(rowMajorIndex(layout.shape(), coords)));
  });
  ASSERT_EQ(places, elementCount(layout.shape()));
  for (int count : holders)
    ASSERT_EQ(count, 1);
}

TEST(Layout, BuildersHoldEachElementOnceModuloFreeBits) {
  forAllSamples([](const Layout &layout) {
    ASSERT_TRUE(layout.isSurjective());
    ASSERT_EQ(layout.laneBits(), kLaneBits);
    expectBijectiveModuloFreeBits(layout);
  });
}

TEST(Layout, LocateFindsAHolderWithoutFreeBits) {
  forAllSamples([](const Layout &layout) {
    for (int64_t index = 0; index < elementCount(layout.shape()); ++index) {
      Coords coords = fromRowMajor(layout.shape(), index);
      std::optional<Place> place = layout.locate(coords);
      ASSERT_TRUE(place);
      ASSERT_EQ(layout.apply(place->reg, place->lane, place->warp, place->block), coords);
      ASSERT_EQ(static_cast<uint32_t>(place->lane) & layout.freeMask(In::Lane), 0u);
      ASSERT_EQ(static_cast<uint32_t>(place->warp) & layout.freeMask(In::Warp), 0u);
    }
  });
}

RC_GTEST_PROP(Layout, RandomLinearLayoutsKeepTheSameClaims, ()) {
  int64_t rows = *rc::gen::element<int64_t>(1, 4, 8, 12, 48);
  int64_t columns = *rc::gen::element<int64_t>(2, 3, 8, 16, 20);
  Layout layout = randomLayout({rows, columns}, 2, [](uint32_t limit) {
    return limit ? *rc::gen::inRange<uint32_t>(0, limit) : 0;
  });
  RC_ASSERT(layout.isSurjective());
  expectBijectiveModuloFreeBits(layout);
  forEachPlace(layout, [&](int32_t reg, int32_t lane, int32_t warp) {
    Coords coords = layout.apply(reg, lane, warp);
    std::optional<int32_t> found = layout.registerAt(coords, lane, warp);
    RC_ASSERT(found.has_value());
    RC_ASSERT(layout.apply(*found, lane, warp) == coords);
  });
}

TEST(Layout, EssayTablesHold) {
  auto first = Layout::create({4, 8}, {{{{0, 1}, {0, 2}}, {{0, 4}, {1, 0}, {2, 0}}, {}, {}}});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->apply(3, 5), (Coords{2, 7}));
  auto second = Layout::create({6}, {{{}, {{1}}, {}, {}}});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->numRegisters(), 3);
  for (int reg = 0; reg < 3; ++reg)
    for (int lane = 0; lane < 2; ++lane)
      EXPECT_EQ(second->apply(reg, lane), (Coords{2 * reg + lane}));
}

TEST(Layout, CreateRefusesWithAReason) {
  Refusal why;
  EXPECT_FALSE(Layout::create({0}, {}, &why));
  EXPECT_EQ(*why, "dimension of size 0 is not in 1..2^30");
  EXPECT_FALSE(Layout::create({1 << 20, 1 << 20}, {}, &why));
  EXPECT_EQ(*why, "tile has more than 2^30 elements");
  EXPECT_FALSE(Layout::create({6}, {{{{2}}, {}, {}, {}}}, &why));
  EXPECT_EQ(*why, "basis coordinate 2 of dimension 0 is not below 2, the power-of-two part of 6");
  EXPECT_FALSE(Layout::create({4, 4}, {{{{1}}, {}, {}, {}}}, &why));
  EXPECT_EQ(*why, "basis vector has 1 coordinates for a tile of rank 2");
}

TEST(Layout, CoalescedNeighboursInMemoryAreNeighboursInTheWarp) {
  Layout layout = Layout::coalesced({128, 64}, {1, 0}, 8, 4);
  EXPECT_EQ(layout.toString(), "128x64 register[(0,1) (0,2) (0,4) (16,0) (32,0) (64,0)] "
                               "lane[(0,8) (0,16) (0,32) (1,0) (2,0)] warp[(4,0) (8,0)]");
  EXPECT_EQ(layout.consecutiveElements(1), 8);
  EXPECT_EQ(layout.consecutiveElements(0), 1);
}

TEST(Layout, SmallTilesUseAllThreadsBeforeVectors) {
  Layout layout = Layout::coalesced({256}, {0}, 8, 4);
  EXPECT_EQ(layout.numRegisters(), 2);
  EXPECT_EQ(layout.freeMask(In::Warp), 0u);
  Layout tiny = Layout::coalesced({16}, {0}, 8, 4);
  EXPECT_EQ(tiny.numRegisters(), 1);
  EXPECT_EQ(tiny.freeMask(In::Lane), 0x10u);
  EXPECT_EQ(tiny.freeMask(In::Warp), 3u);
}

TEST(Layout, ConsecutiveElementsHoldInEveryThread) {
  forAllSamples([](const Layout &layout) {
    for (int dim = 0; dim < layout.rank(); ++dim) {
      int32_t run = layout.consecutiveElements(dim);
      bool isRun = true;
      forEachPlace(layout, [&](int32_t reg, int32_t lane, int32_t warp) {
        Coords expected = layout.apply(reg / run * run, lane, warp);
        int32_t &moving = expected[static_cast<size_t>(dim)];
        isRun &= moving % run == 0;
        moving += reg % run;
        isRun &= layout.apply(reg, lane, warp) == expected;
      });
      ASSERT_TRUE(isRun) << "along " << dim;
    }
  });
}

TEST(Layout, ARunOfRegistersThatALaneTurnsAroundIsNoVector) {
  auto layout = Layout::create({4}, {{{{1}, {2}}, {{1}}, {}, {}}});
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->consecutiveElements(0), 1);
}

} // namespace
} // namespace tile::layout
