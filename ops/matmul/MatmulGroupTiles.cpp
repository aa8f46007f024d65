// Tiles of products by groups of four warps, and how many programs share the K of each.
#include "ops/matmul/MatmulGroupTiles.h"

#include <algorithm>

namespace tile::ops::detail {

namespace {

/// A tile that groups of warps compute by wgmma, and the part of a multiprocessor's peak rate that it
/// reaches with long K: of what each step reads, larger tiles make more products. Measured on an H100.
struct GroupTile {
  int m, n, warps;
  double rate;
};
constexpr GroupTile kGroupTiles[] = {{128, 256, 8, 1.0}, {256, 128, 8, 1.0}, {128, 128, 8, 0.86},
                                     {64, 128, 4, 0.62}, {128, 64, 4, 0.62}, {64, 64, 4, 0.4}};

/// Are sums of 8-bit floats added up in f32 step by step? Each then waits for its products, and has no time to load.
bool hasPromotedSums(const MatmulShape &shape) {
  return isFloat8(shape.dtype) && !shape.how.fast_accumulation;
}

// Two tiles of sums beside those that they are added to take a thread's registers.
bool fits(const GroupTile &tile, const MatmulShape &shape) {
  constexpr int kThreads = 32, kMostPromoted = 64;
  return !hasPromotedSums(shape) || tile.m * tile.n / (tile.warps * kThreads) <= kMostPromoted;
}

// Of a large result with few steps a tile two teams store and multiply in turn: on an H100 8 % faster at K = 1024 than cuBLAS, where
// one that does either at a time is 3 to 6 % faster. With few columns (65536 x 1024) it reads too much: 12 % slower.
bool paysTakingTurns(const MatmulShape &shape) {
  constexpr int64_t kMostSteps = 1024, kFewestRows = 4096;
  return isHalf(shape.dtype) && sizeOf(shape.result) == 2 && shape.aligned && shape.alignedResult &&
         shape.k <= kMostSteps && shape.m >= kFewestRows && shape.n >= kFewestRows;
}

/// A tile, and programs that share its K.
struct Split {
  const GroupTile *tile = nullptr;
  int parts = 1;
};

// Multiply-adds of a multiprocessor in the time in which the parts of a tile are added up: each program writes its sums, the last
// one reads all, and they meet at a counter. From what an H100 does in a cycle; the sums as a whole are not measured.
double costOfSum(const GroupTile &tile, int parts) {
  constexpr double kMultiplyAdds = 2048, kBytes = 64, kSumBytes = 4, kCyclesToMeet = 3000;
  double cycles = tile.m * tile.n * kSumBytes * (parts + 1) / kBytes + kCyclesToMeet;
  return parts == 1 ? 0 : cycles * kMultiplyAdds;
}

// The time of a program is that of its products; as many run at once as there are multiprocessors, and the last round
// takes as long as a full one.
double timeOf(const Split &split, const MatmulShape &shape) {
  const GroupTile &tile = *split.tile;
  auto rounds = static_cast<double>(
      cdiv(programs(shape, tile.m, tile.n) * split.parts, shape.multiprocessors));
  double depth = static_cast<double>(shape.k) / split.parts;
  return rounds * (tile.m * tile.n * depth / tile.rate + costOfSum(tile, split.parts));
}

// K is shared where tiles leave multiprocessors without work, so that there is one round of programs.
bool mayShareDepth(const Split &split, const MatmulShape &shape) {
  return programs(shape, split.tile->m, split.tile->n) * split.parts <= shape.multiprocessors &&
         shape.k >= kLeastDepthOfPart * split.parts;
}

// What is not measured must promise more than it may err by.
Split bestSplit(const MatmulShape &shape) {
  constexpr double kLeastGain = 1.25;
  Split best, bestShared;
  double time = 0, timeShared = 0;
  for (const GroupTile &tile : kGroupTiles)
    for (int parts : {1, 2, 4, 8}) {
      Split split{&tile, parts};
      if (!fits(tile, shape) || (parts > 1 && !mayShareDepth(split, shape)))
        continue;
      double taken = timeOf(split, shape), &least = parts == 1 ? time : timeShared;
      Split &known = parts == 1 ? best : bestShared;
      if (!known.tile || taken < least)
        known = split, least = taken;
    }
  return bestShared.tile && timeShared * kLeastGain <= time ? bestShared : best;
}

} // namespace

MatmulTiles tilesOfGroups(const MatmulShape &shape) {
  if (paysTakingTurns(shape))
    return {128, 128, 64, 4, /*persistent=*/true, /*hasProducer=*/true, /*pingPong=*/true};
  Split best = bestSplit(shape);
  const GroupTile &tile = *best.tile;
  // A tile of 16 bits is stored part after part: shared memory is left to the steps of the next.
  bool hasSeveral = programs(shape, tile.m, tile.n) > shape.multiprocessors;
  // Rows of the widest swizzle; of two in a row the sums of one are added up while the next are computed.
  bool isPromoted = hasPromotedSums(shape);
  int depth = (isPromoted ? 256 : 128) / static_cast<int>(sizeOf(shape.dtype));
  bool isPersistent = hasSeveral && sizeOf(shape.result) == 2;
  MatmulTiles tiles{tile.m, tile.n, depth, tile.warps, isPersistent, isPromoted};
  tiles.split = best.parts;
  return tiles;
}

} // namespace tile::ops::detail
