// Shared layouts place each element somewhere of its own, in bounds; TMA layouts follow the
// engine's byte formula.
#include "ir/layout/Shared.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>

#include <vector>

namespace tile::layout {
namespace {

using namespace test;

void expectNoTwoElementsMeet(const SharedLayout &shared) {
  std::vector<bool> taken(static_cast<size_t>(shared.numElements()), false);
  bool meet = false, outside = false;
  for (int64_t index = 0; index < elementCount(shared.shape()); ++index) {
    auto offset = static_cast<size_t>(shared.offset(fromRowMajor(shared.shape(), index)));
    outside |= offset >= taken.size();
    if (outside)
      break;
    meet |= taken[offset];
    taken[offset] = true;
  }
  ASSERT_FALSE(meet || outside) << shared.toString();
}

TEST(Shared, SwizzlesArePermutations) {
  for (const Shape &shape : allShapes(3, {1, 3, 8, 12, 16, 48})) {
    for (const std::vector<int32_t> &order : someOrders(shape.size())) {
      expectNoTwoElementsMeet(SharedLayout::rowMajor(shape, order));
      for (int elementBytes : {1, 2, 4, 8}) {
        SharedLayout shared = SharedLayout::swizzled(shape, order, elementBytes);
        expectNoTwoElementsMeet(shared);
        ASSERT_EQ(shared.numElements(), elementCount(shape));
        expectNoTwoElementsMeet(SharedLayout::swizzled(shape, order, elementBytes, 128));
        for (int rotation : {1, 2})
          expectNoTwoElementsMeet(SharedLayout::swizzled(shape, order, elementBytes, 0, rotation));
      }
    }
  }
}

TEST(Shared, RowMajorIsRowMajorWherePanelsAreRows) {
  SharedLayout shared = SharedLayout::rowMajor({6, 16}, {1, 0});
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < 16; ++column)
      EXPECT_EQ(shared.offset({row, column}), row * 16 + column);
}

TEST(Shared, OddRowsPadOnRequest) {
  SharedLayout tight = SharedLayout::swizzled({64, 176}, {1, 0}, 2);
  SharedLayout padded = SharedLayout::swizzled({64, 176}, {1, 0}, 2, 128);
  EXPECT_EQ(tight.numElements(), 64 * 176);
  EXPECT_EQ(tight.panelBits(), (std::vector<int>{6, 4}));
  EXPECT_EQ(padded.panelBits(), (std::vector<int>{6, 6}));
  EXPECT_EQ(padded.numElements(), 64 * 192);
}

/// The engine's rule: within panels of swizzleBytes columns, address bits 4.. are XORed with bits
/// 7...
int64_t tmaByte(const Shape &shape, int elementBytes, int swizzleBytes, int64_t row,
                int64_t column) {
  int64_t boxColumns = swizzleBytes ? swizzleBytes / elementBytes : shape[1];
  int64_t panel = column / boxColumns, within = column % boxColumns;
  int64_t byte = ((panel * shape[0] + row) * boxColumns + within) * elementBytes;
  int64_t mask = swizzleBytes ? swizzleBytes / 16 - 1 : 0;
  return byte ^ (byte >> 7 & mask) << 4;
}

TEST(Shared, TmaLayoutsFollowTheEngine) {
  int accepted = 0;
  for (int swizzleBytes : {0, 32, 64, 128}) {
    for (int elementBytes : {1, 2, 4}) {
      for (int64_t rows : {8, 24, 96, 128, 6}) {
        for (int64_t columns : {16, 64, 128, 176, 192}) {
          Shape shape{rows, columns};
          auto shared = SharedLayout::tma(shape, {1, 0}, elementBytes, swizzleBytes);
          if (!shared)
            continue;
          ++accepted;
          for (int32_t row = 0; row < rows; ++row)
            for (int32_t column = 0; column < columns; ++column)
              ASSERT_EQ(shared->offset({row, column}) * elementBytes,
                        tmaByte(shape, elementBytes, swizzleBytes, row, column))
                  << shared->toString();
          expectNoTwoElementsMeet(*shared);
        }
      }
    }
  }
  EXPECT_GT(accepted, 120);
}

TEST(Shared, TmaRefusesWhatItsPatternCannotExpress) {
  Refusal why;
  EXPECT_FALSE(SharedLayout::tma({64, 48}, {1, 0}, 2, 128, &why));
  EXPECT_EQ(*why, "the fastest dimension, 48, is not a multiple of the box's 64 elements");
  EXPECT_FALSE(SharedLayout::tma({12, 64}, {1, 0}, 2, 128, &why));
  EXPECT_EQ(*why, "dimension of size 12 repeats within one swizzle pattern of 1024 bytes");
}

TEST(Shared, RowsUpTo128BytesAreSwizzledLikeTma) {
  for (int columns : {16, 32, 64})
    for (int64_t rows : {32, 96})
      EXPECT_EQ(
          SharedLayout::swizzled({rows, columns}, {1, 0}, 2),
          SharedLayout::tma({rows, columns}, {1, 0}, 2, 2 * columns).value_or(SharedLayout()));
}

TEST(Shared, PermutedSeesTheSameMemory) {
  SharedLayout shared = SharedLayout::swizzled({12, 64, 2}, {1, 0, 2}, 2);
  SharedLayout seen = shared.permuted({2, 0, 1});
  for (int64_t index = 0; index < elementCount(shared.shape()); ++index) {
    Coords c = fromRowMajor(shared.shape(), index);
    EXPECT_EQ(seen.offset({c[2], c[0], c[1]}), shared.offset(c));
  }
}

TEST(Shared, CreateRefusesCollisionsWithAReason) {
  Refusal why;
  EXPECT_FALSE(SharedLayout::create({4}, {2}, LinearMap({1, 1}), {4}, &why));
  EXPECT_EQ(*why, "the linear part of a shared layout puts two elements at one offset");
  EXPECT_FALSE(SharedLayout::create({4}, {2}, LinearMap({1}), {4}, &why));
  EXPECT_FALSE(SharedLayout::create({4}, {}, LinearMap(), {4}, &why));
}

} // namespace
} // namespace tile::layout
