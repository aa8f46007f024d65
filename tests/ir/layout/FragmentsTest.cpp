// Fragment layouts against the element formulas of the PTX manual, and mma instruction lists
// against matrix products.
#include "ir/layout/Fragments.h"
#include "ir/layout/Conversion.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

namespace tile::layout {
namespace {

using namespace test;

const MmaShape kShapes[] = {{16, 8, 8, 16}, {16, 8, 16, 16}, {16, 8, 4, 32},
                            {16, 8, 8, 32}, {16, 8, 16, 8},  {16, 8, 32, 8},
                            {8, 8, 4, 64},  {16, 8, 8, 64},  {16, 8, 16, 64}};

// The manual's formulas, one 32-bit register (64-bit for f64) r with e elements j at lane 4 g + t.
struct Formulas {
  MmaShape mma;
  int e() const { return std::max(1, 32 / mma.bits); }
  Coords a(int element, int lane) const {
    int r = element / e(), j = element % e(), g = lane >> 2, t = lane & 3;
    if (mma.m == 8)
      return {g, t * e() + j};
    return {g + 8 * (r & 1), t * e() + j + (r >> 1) * 4 * e()};
  }
  Coords b(int element, int lane) const {
    int r = element / e(), j = element % e(), g = lane >> 2, t = lane & 3;
    return {t * e() + j + r * 4 * e(), g};
  }
  Coords c(int element, int lane) const {
    return {(lane >> 2) + 8 * (element >> 1), 2 * (lane & 3) + (element & 1)};
  }
};

TEST(Fragments, OneInstructionEqualsTheManual) {
  for (const MmaShape &mma : kShapes) {
    Formulas formulas{mma};
    auto a = operandALayout(mma, mma.m, mma.k, {}), b = operandBLayout(mma, mma.k, mma.n, {}),
         c = accumulatorLayout(mma, mma.m, mma.n, {});
    ASSERT_TRUE(a && b && c);
    ASSERT_EQ(a->numRegisters(), mma.elementsA());
    ASSERT_EQ(b->numRegisters(), mma.elementsB());
    ASSERT_EQ(c->numRegisters(), mma.elementsC());
    for (int lane = 0; lane < kLanesPerWarp; ++lane) {
      for (int i = 0; i < mma.elementsA(); ++i)
        EXPECT_EQ(a->apply(i, lane), formulas.a(i, lane));
      for (int i = 0; i < mma.elementsB(); ++i)
        EXPECT_EQ(b->apply(i, lane), formulas.b(i, lane));
      for (int i = 0; i < mma.elementsC(); ++i)
        EXPECT_EQ(c->apply(i, lane), formulas.c(i, lane));
    }
  }
}

struct Problem {
  int64_t m, n, k;
  WarpGrid warps;
};

/// Every instruction's registers are the manual's, at its place in the tile; together the warps
/// compute each product term exactly once per replica.
void expectStepsComputeTheProduct(const MmaShape &mma, const Problem &problem) {
  auto a = operandALayout(mma, problem.m, problem.k, problem.warps);
  auto b = operandBLayout(mma, problem.k, problem.n, problem.warps);
  auto c = accumulatorLayout(mma, problem.m, problem.n, problem.warps);
  ASSERT_TRUE(a && b && c);
  ASSERT_TRUE(a->isSurjective() && b->isSurjective() && c->isSurjective());
  auto steps = mmaSteps(mma, *a, *b, *c);
  ASSERT_TRUE(steps);
  Formulas formulas{mma};
  auto plus = [](Coords x, Coords y) { return Coords{x[0] + y[0], x[1] + y[1]}; };
  std::set<std::tuple<int, int, int>> done;
  for (int32_t warp = 0; warp < problem.warps.m * problem.warps.n; ++warp) {
    for (const MmaStep &step : *steps) {
      Coords corner = c->apply(step.c, 0, warp);
      done.insert({corner[0], corner[1], step.k});
      for (int lane = 0; lane < kLanesPerWarp; ++lane) {
        for (int i = 0; i < mma.elementsA(); ++i)
          ASSERT_EQ(a->apply(step.a + i, lane, warp),
                    plus({corner[0], step.k}, formulas.a(i, lane)));
        for (int i = 0; i < mma.elementsB(); ++i)
          ASSERT_EQ(b->apply(step.b + i, lane, warp),
                    plus({step.k, corner[1]}, formulas.b(i, lane)));
        for (int i = 0; i < mma.elementsC(); ++i)
          ASSERT_EQ(c->apply(step.c + i, lane, warp), plus(corner, formulas.c(i, lane)));
      }
    }
  }
  auto expected =
      static_cast<size_t>(problem.m / mma.m * (problem.n / mma.n) * (problem.k / mma.k));
  ASSERT_EQ(done.size(), expected);
  // Within one warp nothing is computed twice.
  size_t perWarp = steps->size();
  auto warpsUsed = static_cast<size_t>(problem.warps.m * problem.warps.n) >>
                   std::popcount(c->freeMask(In::Warp));
  ASSERT_EQ(perWarp * warpsUsed, expected);
}

TEST(Fragments, StepsComputeTheProductForAllGrids) {
  for (const MmaShape &mma : kShapes)
    for (WarpGrid warps : {WarpGrid{1, 1}, WarpGrid{2, 2}, WarpGrid{4, 1}, WarpGrid{1, 8}})
      for (int64_t m : {16, 48, 64})
        for (int64_t n : {8, 32, 80})
          for (int64_t k : {mma.k, 4 * mma.k, 3 * mma.k})
            expectStepsComputeTheProduct(mma, {m, n, k, warps});
}

/// With a K width lanes have so many neighbours along K, in registers of their own order; A and B of each instruction take the
/// same elements of K, and the instructions all of them once.
void expectInstructionsAgreeOnK(const MmaShape &mma, int64_t kWidth, int64_t k) {
  auto a = operandALayout(mma, 32, k, {}, nullptr, kWidth);
  auto b = operandBLayout(mma, k, 16, {}, nullptr, kWidth);
  auto c = accumulatorLayout(mma, 32, 16, {});
  ASSERT_TRUE(a && b && c && a->isInjective() && b->isInjective());
  EXPECT_GE(b->consecutiveElements(0), kWidth);
  auto steps = mmaSteps(mma, *a, *b, *c);
  ASSERT_TRUE(steps);
  Formulas formulas{mma};
  std::set<std::tuple<int, int, int>> done;
  for (const MmaStep &step : *steps) {
    std::map<int, int> depths; // by place in the instruction
    for (int lane = 0; lane < kLanesPerWarp; ++lane) {
      for (int i = 0; i < mma.elementsA(); ++i) {
        Coords place = formulas.a(i, lane), element = a->apply(step.a + i, lane);
        EXPECT_EQ(element[0], step.row + place[0]);
        EXPECT_EQ(depths.try_emplace(place[1], element[1]).first->second, element[1]);
      }
      for (int i = 0; i < mma.elementsB(); ++i) {
        Coords place = formulas.b(i, lane), element = b->apply(step.b + i, lane);
        EXPECT_EQ(element[1], step.column + place[1]);
        EXPECT_EQ(depths.at(place[0]), element[0]);
      }
    }
    for (auto [place, depth] : depths)
      EXPECT_TRUE(done.insert({step.row, step.column, depth}).second);
  }
  EXPECT_EQ(done.size(), static_cast<size_t>(32 / mma.m * (16 / mma.n) * k));
}

TEST(Fragments, KWidthsRenumberBothOperandsAlike) {
  for (int bits : {8, 16, 32})
    for (int bytes : {4, 8, 16})
      for (int repeats : {1, 2, 3}) {
        MmaShape mma = *MmaShape::forElementBits(bits);
        SCOPED_TRACE(std::to_string(bits) + " bits, " + std::to_string(bytes) + " bytes a lane, " +
                     std::to_string(repeats));
        int64_t width = bytes * 8 / bits;
        expectInstructionsAgreeOnK(mma, width, std::max<int64_t>(mma.k, 4 * width) * repeats);
      }
  Refusal why;
  EXPECT_FALSE(operandALayout(*MmaShape::forElementBits(16), 16, 16, {}, &why, 8));
  EXPECT_EQ(*why, "dot dimension K = 16 is not a multiple of 32, the size of one instruction");
}

TEST(Fragments, OddTilesOfAllThreeDimensions) {
  MmaShape mma = *MmaShape::forElementBits(16);
  expectStepsComputeTheProduct(mma, {96, 176, 80, {2, 2}});
  expectStepsComputeTheProduct(mma, {80, 96, 176, {4, 1}});
}

TEST(Fragments, TooSmallTilesAreRefusedWithAReason) {
  MmaShape mma = *MmaShape::forElementBits(16);
  Refusal why;
  EXPECT_FALSE(accumulatorLayout(mma, 8, 64, {}, &why));
  EXPECT_EQ(*why, "dot dimension M = 8 is not a multiple of 16, the size of one instruction");
  EXPECT_FALSE(operandBLayout(mma, 24, 64, {}, &why));
  EXPECT_EQ(*why, "dot dimension K = 24 is not a multiple of 16, the size of one instruction");
}

TEST(Fragments, WgmmaAccumulatorEqualsTheManual) {
  for (int64_t n : {8, 64, 96, 176, 256}) {
    auto layout = wgmmaAccumulatorLayout(64, n, {1, 1});
    ASSERT_TRUE(layout);
    ASSERT_EQ(layout->numRegisters(), n / 2);
    for (int warp = 0; warp < 4; ++warp)
      for (int lane = 0; lane < kLanesPerWarp; ++lane)
        for (int i = 0; i < n / 2; ++i)
          EXPECT_EQ(layout->apply(i, lane, warp),
                    (Coords{16 * warp + (lane >> 2) + 8 * ((i >> 1) & 1),
                            2 * (lane & 3) + (i & 1) + 8 * (i >> 2)}));
  }
}

TEST(Fragments, WgmmaGroupsOwnConsecutiveRows) {
  auto c = wgmmaAccumulatorLayout(256, 64, {2, 1});
  auto a = wgmmaOperandALayout(16, 256, 32, {2, 1});
  ASSERT_TRUE(c && a && c->isInjective() && a->isInjective());
  EXPECT_EQ(c->apply(0, 0, 4), (Coords{128, 0}));
  EXPECT_EQ(a->apply(0, 0, 5), (Coords{144, 0}));
  EXPECT_FALSE(wgmmaOperandALayout(64, 64, 32, {}));
}

TEST(Fragments, AccumulatorBecomesTheLeftOperandWithoutMovingThreads) {
  // What attention relies on: the first product's result is the second product's operand.
  MmaShape mma = *MmaShape::forElementBits(16);
  for (int64_t keys : {64, 80}) {
    auto scores = accumulatorLayout(mma, 64, keys, {4, 1});
    auto weights = operandALayout(mma, 64, keys, {4, 1});
    ASSERT_TRUE(scores && weights);
    EXPECT_EQ(planConversion(*scores, *weights).kind, ConversionKind::Identity);
  }
}

} // namespace
} // namespace tile::layout
