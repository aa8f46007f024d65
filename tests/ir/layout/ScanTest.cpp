// Scannable layouts split an axis into runs, lanes and warps that follow each other.
#include "ir/layout/Scan.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>

namespace tile::layout {
namespace {

using namespace test;

/// Along the axis: registers 0 .. run - 1 are neighbours, then the lanes of `laneBits`, then the
/// warps.
void expectPieces(const Layout &layout, int axis) {
  SCOPED_TRACE(layout.toString() + " axis " + std::to_string(axis));
  std::optional<ScanPieces> pieces = scanPieces(layout, axis);
  ASSERT_TRUE(pieces);
  EXPECT_EQ(pieces->piece, pieces->run << pieces->laneBits.size());
  int32_t step = pieces->run;
  for (int bit : pieces->laneBits) {
    EXPECT_EQ(layout.apply(0, 1 << bit)[size_t(axis)], step);
    step *= 2;
  }
  int32_t warpSteps = 0;
  for (int32_t warp = 1; warp < layout.numWarps(); warp *= 2)
    warpSteps |= layout.apply(0, 0, warp)[size_t(axis)];
  EXPECT_EQ(warpSteps, (pieces->warps - 1) * pieces->piece);
  if (pieces->warps > 1) {
    EXPECT_EQ(int64_t(pieces->warps) * pieces->piece, layout.pow2Shape()[size_t(axis)]);
  }
}

TEST(Scan, EveryLayoutBecomesScannable) {
  int changed = 0;
  for (const Shape &shape : allShapes(2, {1, 2, 4, 12, 512}))
    for (int64_t warps : {1, 4})
      for (const Layout &source : sampleLayouts(shape, warps))
        for (int axis = 0; axis < source.rank(); ++axis) {
          Layout result = scannable(source, axis);
          ASSERT_TRUE(result.isSurjective()) << result.toString();
          ASSERT_EQ(result.shape(), source.shape());
          ASSERT_EQ(result.numWarps(), source.numWarps());
          ASSERT_EQ(scannable(result, axis), result);
          expectPieces(result, axis);
          changed += result != source;
        }
  EXPECT_GT(changed, 0);
}

TEST(Scan, RowsOfFourWarpsInPieces) {
  // Vectors of 4, 32 lanes, 4 warps, and the rest in registers above the warps: registers move to
  // the bottom.
  Layout source = Layout::coalesced({2048}, {0}, 4, 4);
  EXPECT_FALSE(scanPieces(source, 0));
  std::optional<ScanPieces> pieces = scanPieces(scannable(source, 0), 0);
  ASSERT_TRUE(pieces);
  EXPECT_EQ(pieces->run, 16);
  EXPECT_EQ(pieces->piece, 512);
  EXPECT_EQ(pieces->warps, 4);
}

TEST(Scan, TotalsHaveOneElementAPiece) {
  Layout source = scannable(Layout::coalesced({3 * 256, 4}, {0, 1}, 1, 4), 0);
  Layout totals = pieceTotals(source, 0);
  std::optional<ScanPieces> pieces = scanPieces(source, 0);
  ASSERT_TRUE(pieces);
  EXPECT_EQ(totals.shape(), (Shape{3 * pieces->warps, 4}));
  EXPECT_TRUE(totals.isSurjective());
  for (int32_t warp = 0; warp < 4; ++warp)
    for (int32_t lane = 0; lane < kLanesPerWarp; ++lane) {
      Coords element = source.apply(0, lane, warp), total = totals.apply(0, lane, warp);
      EXPECT_EQ(element[0] / pieces->piece, total[0]);
      EXPECT_EQ(element[1], total[1]);
    }
}

} // namespace
} // namespace tile::layout
