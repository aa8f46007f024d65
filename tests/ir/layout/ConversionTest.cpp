// Conversion plans, carried out on element numbers: afterwards every register of every thread holds
// its element.
#include "ir/layout/Conversion.h"
#include "ir/layout/Derived.h"
#include "ir/layout/Fragments.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace tile::layout {
namespace {

using namespace test;

/// values[thread][register] = row-major number of the element that the layout puts there.
std::vector<std::vector<int64_t>> numbered(const Layout &layout, int32_t warps) {
  std::vector<std::vector<int64_t>> values;
  for (int32_t warp = 0; warp < warps; ++warp)
    for (int32_t lane = 0; lane < kLanesPerWarp; ++lane) {
      values.emplace_back();
      for (int32_t reg = 0; reg < layout.numRegisters(); ++reg)
        values.back().push_back(rowMajorIndex(layout.shape(), layout.apply(reg, lane, warp)));
    }
  return values;
}

void expectPlanIsRight(const Layout &from, const Layout &to, const Conversion &plan) {
  if (plan.kind == ConversionKind::SharedMemory)
    return;
  int32_t warps = std::max(from.numWarps(), to.numWarps());
  ASSERT_EQ(simulate(plan, to, numbered(from, warps)), numbered(to, warps))
      << from.toString() << " -> " << to.toString();
}

// Pairs of registers move as one element of the layouts that have half as many.
TEST(Conversion, PairsThatStayTogetherAreOneWord) {
  Bases bases;
  bases[size_t(In::Register)] = {{0, 1}, {8, 0}, {0, 8}, {0, 16}};
  bases[size_t(In::Lane)] = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  Layout from = *Layout::create({16, 32}, bases), to = *withVectors(from, 1, 8);
  Conversion plan = planConversion(from, to);
  ASSERT_EQ(plan.kind, ConversionKind::WarpShuffle);
  expectPlanIsRight(from, to, plan);
  std::optional<ShufflePlan> pairs = planOfPairs(plan.shuffle);
  ASSERT_TRUE(pairs);
  EXPECT_EQ(2 * pairs->rounds.size(), plan.shuffle.rounds.size());
  auto halved = [](std::vector<std::vector<int64_t>> values) {
    for (std::vector<int64_t> &thread : values) {
      for (size_t i = 0; i < thread.size() / 2; ++i)
        thread[i] = thread[2 * i];
      thread.resize(thread.size() / 2);
    }
    return values;
  };
  for (std::vector<Coords> *vectors : {&bases[size_t(In::Register)], &bases[size_t(In::Lane)]})
    for (Coords &vector : *vectors)
      vector[1] /= 2;
  bases[size_t(In::Register)].erase(bases[size_t(In::Register)].begin());
  Layout words = *withVectors(*Layout::create({16, 16}, bases), 1, 4);
  Conversion ofWords{ConversionKind::WarpShuffle, {}, *pairs};
  EXPECT_EQ(simulate(ofWords, words, halved(numbered(from, 1))), halved(numbered(to, 1)));
}

TEST(Conversion, PairsThatPartAreNone) {
  Layout rows = Layout::coalesced({32, 2}, {1, 0}, 2, 1),
         columns = Layout::coalesced({32, 2}, {0, 1}, 2, 1);
  Conversion plan = planConversion(rows, columns);
  ASSERT_EQ(plan.kind, ConversionKind::WarpShuffle);
  EXPECT_FALSE(planOfPairs(plan.shuffle));
}

TEST(Conversion, PlansDeliverForAllPairsOfSamples) {
  std::map<ConversionKind, int> kinds;
  for (const Shape &shape : allShapes(2, {1, 2, 3, 4, 6, 8, 12, 64})) {
    for (int64_t warps : {1, 4}) {
      std::vector<Layout> samples = sampleLayouts(shape, warps);
      for (const Layout &from : samples) {
        for (const Layout &to : samples) {
          Conversion plan = planConversion(from, to);
          ++kinds[plan.kind];
          expectPlanIsRight(from, to, plan);
          if (from == to) {
            ASSERT_EQ(plan.kind, ConversionKind::Identity);
          }
          if (testing::Test::HasFatalFailure())
            return;
        }
      }
    }
  }
  for (ConversionKind kind : {ConversionKind::Identity, ConversionKind::RegisterPermutation,
                              ConversionKind::WarpShuffle, ConversionKind::SharedMemory})
    EXPECT_GT(kinds[kind], 20) << static_cast<int>(kind);
}

RC_GTEST_PROP(Conversion, RandomPairsWithinAWarpDeliver, ()) {
  Shape shape{*rc::gen::element<int64_t>(4, 12, 16), *rc::gen::element<int64_t>(8, 16, 3)};
  auto random = [](uint32_t limit) { return limit ? *rc::gen::inRange<uint32_t>(0, limit) : 0; };
  Layout from = randomLayout(shape, 0, random), to = randomLayout(shape, 0, random);
  Conversion plan = planConversion(from, to, 1 << 20);
  RC_ASSERT(plan.kind != ConversionKind::SharedMemory);
  expectPlanIsRight(from, to, plan);
  RC_ASSERT(!testing::Test::HasFatalFailure());
}

TEST(Conversion, TransposeWithinAWarpTakesOneRoundPerRegister) {
  Layout rows = Layout::coalesced({8, 16}, {1, 0}, 4, 1);
  Layout columns = Layout::coalesced({8, 16}, {0, 1}, 4, 1);
  Conversion plan = planConversion(rows, columns);
  ASSERT_EQ(plan.kind, ConversionKind::WarpShuffle);
  EXPECT_EQ(plan.shuffle.rounds.size(), 4u);
  expectPlanIsRight(rows, columns, plan);
}

TEST(Conversion, RowSumsOfAFragmentSpreadOverTheWarpInOneRound) {
  MmaShape mma = *MmaShape::forElementBits(16);
  Layout sums = reduceAxis(*accumulatorLayout(mma, 128, 64, {4, 1}), 1);
  Layout spread = Layout::coalesced({128}, {0}, 1, 4);
  Conversion plan = planConversion(sums, spread);
  ASSERT_EQ(plan.kind, ConversionKind::WarpShuffle);
  EXPECT_EQ(plan.shuffle.rounds.size(), 1u);
  expectPlanIsRight(sums, spread, plan);
  Conversion back = planConversion(spread, sums);
  ASSERT_EQ(back.kind, ConversionKind::WarpShuffle);
  expectPlanIsRight(spread, sums, back);
}

TEST(Conversion, PickingFromAReplicatedTileReadsNoOtherLane) {
  Layout all = Layout::replicated({4, 8}, 1);
  Layout spread = Layout::coalesced({4, 8}, {1, 0}, 1, 1);
  Conversion plan = planConversion(all, spread);
  ASSERT_EQ(plan.kind, ConversionKind::WarpShuffle);
  for (const ShuffleRound &round : plan.shuffle.rounds)
    EXPECT_TRUE(plan.shuffle.staysInLane(round));
  expectPlanIsRight(all, spread, plan);
}

TEST(Conversion, DataOfOtherWarpsGoesThroughSharedMemory) {
  Layout rows = Layout::coalesced({64, 64}, {1, 0}, 4, 4);
  Layout columns = Layout::coalesced({64, 64}, {0, 1}, 4, 4);
  EXPECT_EQ(planConversion(rows, columns).kind, ConversionKind::SharedMemory);
}

TEST(Conversion, ManyShufflesAreDeclined) {
  Layout rows = Layout::coalesced({64, 64}, {1, 0}, 4, 1);
  Layout columns = Layout::coalesced({64, 64}, {0, 1}, 4, 1);
  EXPECT_EQ(planConversion(rows, columns, 32).kind, ConversionKind::SharedMemory);
  EXPECT_EQ(planConversion(rows, columns, 128).kind, ConversionKind::WarpShuffle);
}

TEST(Conversion, DifferentShapesHaveNoPlanInRegisters) {
  EXPECT_EQ(planConversion(Layout::replicated({4}, 1), Layout::replicated({8}, 1)).kind,
            ConversionKind::SharedMemory);
}

TEST(Conversion, BroadcastOfAReducedLayoutMovesNothing) {
  for (const Shape &shape : {Shape{16, 64}, {12, 48}, {6, 4}}) {
    for (const Layout &target : sampleLayouts(shape, 4)) {
      for (int axis : {0, 1}) {
        Layout source = collapse(target, axis);
        auto registers = registerSources(source, target);
        ASSERT_TRUE(registers) << target.toString();
        forEachPlace(target, [&](int32_t reg, int32_t lane, int32_t warp) {
          Coords expected = target.apply(reg, lane, warp);
          expected[static_cast<size_t>(axis)] = 0;
          ASSERT_EQ(source.apply((*registers)[static_cast<size_t>(reg)], lane, warp), expected);
        });
      }
    }
  }
  EXPECT_FALSE(registerSources(Layout::coalesced({16, 1}, {1, 0}, 1, 1),
                               Layout::coalesced({16, 64}, {1, 0}, 4, 1)));
}

} // namespace
} // namespace tile::layout
