// Shared-memory accesses: vectors are what they claim, closed-form addresses are exact, ldmatrix
// delivers the fragment, swizzles and scratch layouts meet no bank twice where that is promised.
#include "ir/layout/SharedAccess.h"
#include "ir/layout/Fragments.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

namespace tile::layout {
namespace {

using namespace test;

void expectVectorsAreConsecutiveAndComplete(const Layout &regs, const SharedLayout &shared,
                                            int elementBytes) {
  std::set<int32_t> seen;
  for (const VectorGroup &group : vectorGroups(regs, shared, elementBytes)) {
    for (int32_t reg : group)
      ASSERT_TRUE(seen.insert(reg).second);
    ASSERT_EQ(vectorGroupOf(regs, shared, elementBytes, group.back()), group);
    for (int32_t warp = 0; warp < regs.numWarps(); ++warp) {
      for (int32_t lane = 0; lane < kLanesPerWarp; ++lane) {
        int64_t first = shared.offset(regs.apply(group.front(), lane, warp));
        ASSERT_EQ(first % static_cast<int64_t>(group.size()), 0);
        for (size_t i = 0; i < group.size(); ++i)
          ASSERT_EQ(shared.offset(regs.apply(group[i], lane, warp)),
                    first + static_cast<int64_t>(i));
      }
    }
  }
  ASSERT_EQ(static_cast<int32_t>(seen.size()), regs.numRegisters());
}

void expectAddressesAreExact(const Layout &regs, const SharedLayout &shared) {
  std::optional<SharedAddress> address = sharedAddress(regs, shared);
  ASSERT_TRUE(address || !shared.isLinear());
  if (!address)
    return;
  forEachPlace(regs, [&](int32_t reg, int32_t lane, int32_t warp) {
    ASSERT_EQ(address->offset(reg, lane, warp), shared.offset(regs.apply(reg, lane, warp)));
  });
}

TEST(SharedAccess, VectorsAndAddressesHoldForAllSamples) {
  for (const Shape &shape : {Shape{64}, {96}, {32, 64}, {12, 176}, {48, 8}, {6, 12}, {4, 8, 24}}) {
    for (const Layout &regs : sampleLayouts(shape, 4)) {
      for (const std::vector<int32_t> &order : someOrders(shape.size())) {
        for (int64_t minRowBytes : {0, 64}) {
          SharedLayout shared = SharedLayout::swizzled(shape, order, 2, minRowBytes);
          SCOPED_TRACE(regs.toString() + " in " + shared.toString());
          expectVectorsAreConsecutiveAndComplete(regs, shared, 2);
          expectAddressesAreExact(regs, shared);
        }
      }
    }
  }
}

TEST(SharedAccess, TmaPanelsHaveExactAddressesToo) {
  for (const Shape &shape : {Shape{64, 128}, {96, 192}, {48, 256}}) {
    SharedLayout shared = *SharedLayout::tma(shape, {1, 0}, 2, 128);
    for (const Layout &regs : sampleLayouts(shape, 4)) {
      SCOPED_TRACE(regs.toString() + " in " + shared.toString());
      expectVectorsAreConsecutiveAndComplete(regs, shared, 2);
      expectAddressesAreExact(regs, shared);
    }
  }
}

TEST(SharedAccess, RowVectorsOfCoalescedLayoutsAreFreeOfConflicts) {
  for (int elementBytes : {1, 2, 4}) {
    for (int64_t rowBytes : {16, 32, 64, 128, 256, 512}) {
      for (int64_t rows : {32, 64, 96}) {
        int64_t columns = rowBytes / elementBytes;
        Layout regs = Layout::coalesced({rows, columns}, {1, 0}, 16 / elementBytes, 1);
        SharedLayout shared = SharedLayout::swizzled({rows, columns}, {1, 0}, elementBytes);
        auto groups = vectorGroups(regs, shared, elementBytes);
        Wavefronts cost = bankWavefronts(regs, shared, elementBytes);
        EXPECT_TRUE(cost.conflictFree()) << shared.toString();
        if (rows * rowBytes >= 32 * 16) {
          EXPECT_EQ(groups.front().size() * static_cast<size_t>(elementBytes), 16u);
        }
      }
    }
  }
}

TEST(SharedAccess, WithoutSwizzleMatrixReadsConflictAndWithItTheyDoNot) {
  MmaShape mma = *MmaShape::forElementBits(16);
  Layout a = *operandALayout(mma, 64, 64, {2, 2});
  auto plain = matchMatrixAccess(a, SharedLayout::rowMajor({64, 64}, {1, 0}), 2);
  auto swizzled = matchMatrixAccess(a, SharedLayout::swizzled({64, 64}, {1, 0}, 2), 2);
  ASSERT_TRUE(plain && swizzled);
  EXPECT_EQ(matrixWavefronts(*plain, 4, 2).actual, 8 * matrixWavefronts(*plain, 4, 2).ideal);
  EXPECT_TRUE(matrixWavefronts(*swizzled, 4, 2).conflictFree());
}

// Fragments of 4- and 8-byte operands whose rows in memory run along N: pairs of chunks of 4 rows.
TEST(SharedAccess, RotatedSwizzlesSuitFragmentsOfWideElements) {
  for (int bytes : {4, 8}) {
    Layout right = *operandBLayout(*MmaShape::forElementBits(8 * bytes), 16, 64, {});
    auto conflicts = [&](int rotation) {
      auto shared = SharedLayout::swizzled({16, 64}, {1, 0}, bytes, 0, rotation);
      Wavefronts cost = bankWavefronts(right, shared, bytes);
      return cost.actual - cost.ideal;
    };
    EXPECT_GT(conflicts(0), 0) << bytes;
    EXPECT_EQ(conflicts(1), 0) << bytes;
  }
}

/// Executes the access as the manual defines it and compares each register's element.
void expectMatrixAccessDelivers(const MatrixAccess &access, const Layout &regs,
                                const SharedLayout &shared, int elementBytes) {
  std::map<int64_t, Coords> memory;
  for (int64_t index = 0; index < elementCount(shared.shape()); ++index) {
    Coords coords = fromRowMajor(shared.shape(), index);
    memory[shared.offset(coords)] = coords;
  }
  int perRegister = 4 / elementBytes;
  ASSERT_EQ(access.elementsPerMatrix, perRegister);
  std::set<int32_t> filled;
  for (size_t i = 0; i < access.instructions.size(); ++i) {
    for (int32_t warp = 0; warp < regs.numWarps(); ++warp) {
      for (int32_t q = 0; q < access.matrices; ++q) {
        for (int32_t lane = 0; lane < kLanesPerWarp; ++lane) {
          int32_t g = lane >> 2, t = lane & 3;
          for (int32_t j = 0; j < perRegister; ++j) {
            int32_t row = access.transposed ? 2 * t + j : g;
            int32_t column = access.transposed ? g : perRegister * t + j;
            int64_t start = access.rowOffset(i, 8 * q + row, warp);
            ASSERT_EQ(start * elementBytes % 16, 0);
            int32_t reg = access.instructions[i].firstRegister + access.matrixRegisters[q] + j;
            filled.insert(reg);
            ASSERT_EQ(memory.at(start + column), regs.apply(reg, lane, warp));
          }
        }
      }
    }
  }
  ASSERT_EQ(static_cast<int32_t>(filled.size()), regs.numRegisters());
}

TEST(SharedAccess, LdmatrixDeliversOperandsOfBothOrders) {
  for (int bits : {8, 16, 32}) {
    MmaShape mma = *MmaShape::forElementBits(bits);
    int bytes = bits / 8;
    for (int64_t outer : {16, 64, 96}) {
      for (int64_t inner : {mma.k, 2 * mma.k, 4 * mma.k, 3 * mma.k}) {
        struct Case {
          Layout regs;
          SharedLayout shared;
          bool transposed;
        };
        std::vector<Case> cases;
        for (bool rowMajor : {true, false}) {
          std::vector<int32_t> order = rowMajor ? std::vector{1, 0} : std::vector{0, 1};
          cases.push_back({*operandALayout(mma, outer, inner, {2, 2}),
                           SharedLayout::swizzled({outer, inner}, order, bytes), !rowMajor});
          cases.push_back({*operandBLayout(mma, inner, outer, {2, 2}),
                           SharedLayout::swizzled({inner, outer}, order, bytes), rowMajor});
        }
        if (bits == 16) // stmatrix of a result
          cases.push_back({*accumulatorLayout(mma, outer, inner, {2, 2}),
                           SharedLayout::swizzled({outer, inner}, {1, 0}, bytes), false});
        for (const Case &test : cases) {
          auto access = matchMatrixAccess(test.regs, test.shared, bytes);
          SCOPED_TRACE(test.regs.toString() + " in " + test.shared.toString());
          ASSERT_EQ(access.has_value(), !test.transposed || bits == 16);
          if (!access)
            continue;
          EXPECT_EQ(access->transposed, test.transposed);
          expectMatrixAccessDelivers(*access, test.regs, test.shared, bytes);
          EXPECT_TRUE(matrixWavefronts(*access, 4, bytes).conflictFree());
        }
      }
    }
  }
}

TEST(SharedAccess, LdmatrixIsNotMatchedWhereRowsAreNotContiguous) {
  MmaShape mma = *MmaShape::forElementBits(16);
  Layout a = *operandALayout(mma, 64, 64, {2, 2});
  Layout notAFragment = Layout::coalesced({64, 64}, {1, 0}, 8, 4);
  SharedLayout shared = SharedLayout::swizzled({64, 64}, {1, 0}, 2);
  EXPECT_FALSE(matchMatrixAccess(notAFragment, shared, 2));
  EXPECT_FALSE(matchMatrixAccess(a, shared, 8));
  EXPECT_FALSE(matchMatrixAccess(a, shared.permuted({1, 0}).permuted({1, 0}), 1));
}

TEST(SharedAccess, WavefrontsFollowTheHardwareRule) {
  auto count = [](const std::vector<int32_t> &order, int elementBytes, int vector) {
    Layout regs = Layout::coalesced({64, 32}, {1, 0}, vector, 1);
    return bankWavefronts(regs, SharedLayout::rowMajor({64, 32}, order), elementBytes,
                          vector * elementBytes);
  };
  // Rows of 32 words: one wavefront each; with 4-element vectors four phases for four times the
  // data.
  EXPECT_EQ(count({1, 0}, 4, 1).actual, 64);
  EXPECT_EQ(count({1, 0}, 4, 4).instructions, 16);
  EXPECT_EQ(count({1, 0}, 4, 4).actual, 64);
  // Column-major memory read along rows, word by word: all 32 lanes in one bank.
  EXPECT_EQ(count({0, 1}, 4, 1).actual, 64 * 32);
  // 8-byte elements in two phases, 2-byte neighbours share a word.
  EXPECT_EQ(count({1, 0}, 8, 1).actual, 2 * 64);
  EXPECT_EQ(count({1, 0}, 2, 1).actual, 64);
  // Replicated lanes read the same word: broadcast.
  Layout all = Layout::replicated({4}, 1);
  EXPECT_EQ(bankWavefronts(all, SharedLayout::rowMajor({4}, {0}), 4, 4).actual, 4);
}

// --- Scratch layouts
// ------------------------------------------------------------------------------------

void expectUsableScratch(const Layout &from, const Layout &to, int elementBytes) {
  SharedLayout scratch = scratchSwizzle(from, to, elementBytes);
  SCOPED_TRACE(from.toString() + " -> " + to.toString() + " via " + scratch.toString());
  ASSERT_EQ(scratch.shape(), from.shape());
  ASSERT_EQ(scratch.numElements(), elementCount(from.shape()));
  std::set<int64_t> offsets;
  for (int64_t index = 0; index < elementCount(from.shape()); ++index)
    ASSERT_TRUE(offsets.insert(scratch.offset(fromRowMajor(from.shape(), index))).second);
  expectVectorsAreConsecutiveAndComplete(from, scratch, elementBytes);
  expectVectorsAreConsecutiveAndComplete(to, scratch, elementBytes);
}

RC_GTEST_PROP(ScratchSwizzle, RandomPairsGetAPermutation, ()) {
  Shape shape{*rc::gen::element<int64_t>(8, 16, 48), *rc::gen::element<int64_t>(8, 32, 80)};
  auto random = [](uint32_t limit) { return limit ? *rc::gen::inRange<uint32_t>(0, limit) : 0; };
  Layout from = randomLayout(shape, 1, random), to = randomLayout(shape, 1, random);
  expectUsableScratch(from, to, *rc::gen::element(1, 2, 4, 8));
  RC_ASSERT(!testing::Test::HasFatalFailure());
}

TEST(ScratchSwizzle, FragmentAndCoalescedRoundTripsAreFreeOfConflicts) {
  for (int elementBytes : {2, 4}) {
    for (const Shape &shape : {Shape{64, 64}, {128, 128}, {64, 96}, {128, 32}}) {
      MmaShape mma = *MmaShape::forElementBits(16);
      Layout fragment = *accumulatorLayout(mma, shape[0], shape[1], {2, 2});
      Layout rows = Layout::coalesced(shape, {1, 0}, 16 / elementBytes, 4);
      expectUsableScratch(fragment, rows, elementBytes);
      SharedLayout scratch = scratchSwizzle(fragment, rows, elementBytes);
      EXPECT_TRUE(bankWavefronts(fragment, scratch, elementBytes).conflictFree())
          << fragment.toString() << " via " << scratch.toString();
      EXPECT_TRUE(bankWavefronts(rows, scratch, elementBytes).conflictFree())
          << rows.toString() << " via " << scratch.toString();
    }
  }
}

TEST(ScratchSwizzle, TransposesWriteVectorsAndAreFreeOfConflicts) {
  for (int elementBytes : {1, 2, 4}) {
    Layout rows = Layout::coalesced({128, 128}, {1, 0}, 8, 4);
    Layout columns = Layout::coalesced({128, 128}, {0, 1}, 8, 4);
    expectUsableScratch(rows, columns, elementBytes);
    SharedLayout scratch = scratchSwizzle(rows, columns, elementBytes);
    SCOPED_TRACE(scratch.toString());
    Wavefronts write = bankWavefronts(rows, scratch, elementBytes);
    Wavefronts read = bankWavefronts(columns, scratch, elementBytes);
    EXPECT_TRUE(write.conflictFree());
    EXPECT_TRUE(read.conflictFree());
    EXPECT_EQ(write.instructions * 16 * kLanesPerWarp, 128 * 128 * elementBytes);
    // Plain row-major memory costs each column read many passes.
    SharedLayout plain = SharedLayout::rowMajor({128, 128}, {1, 0});
    EXPECT_GT(bankWavefronts(columns, plain, elementBytes).actual, 3 * read.actual);
  }
}

} // namespace
} // namespace tile::layout
