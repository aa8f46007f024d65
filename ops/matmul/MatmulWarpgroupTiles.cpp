// Tiles by warpgroups, and the number of programs that share the K of each.
#include "ops/matmul/MatmulWarpgroupTiles.h"

#include "ops/matmul/MatmulThresholds.h"

#include <algorithm>

namespace tile::ops::detail {

namespace {

/// A tile that warpgroups compute by wgmma, and the part of a multiprocessor's peak rate that it
/// reaches with a long K: larger tiles do more MMAs per byte. Timed on an H100, 2026-11-24.
struct WarpgroupTile {
  int m, n, warps;
  double rate;
};
constexpr WarpgroupTile kTiles[] = {{128, 256, 8, 1.0}, {256, 128, 8, 1.0}, {128, 128, 8, 0.86},
                                    {64, 128, 4, 0.62}, {128, 64, 4, 0.62}, {64, 64, 4, 0.4}};

/// Are accumulators of 8-bit floats promoted to f32 at each step? Each step then waits for its
/// dots, and has no time to load.
bool promotesAccumulators(const MatmulShape &shape) {
  return isFloat8(shape.dtype) && !shape.how.fast_accumulation;
}

// The accumulators of two dots, beside those that they are promoted to, take a thread's registers.
bool fits(const WarpgroupTile &tile, const MatmulShape &shape) {
  constexpr int kThreads = 32, kMostPromoted = 64;
  return !promotesAccumulators(shape) || tile.m * tile.n / (tile.warps * kThreads) <= kMostPromoted;
}

// A large result with few steps per tile: one consumer stores while the other multiplies.
bool pingPongPays(const MatmulShape &shape) {
  return isHalf(shape.dtype) && sizeOf(shape.result) == 2 && shape.aligned && shape.alignedResult &&
         shape.k <= kPingPongDepth && shape.m >= kPingPongExtent && shape.n >= kPingPongExtent;
}

/// A tile, and the number of programs that share its K.
struct Candidate {
  const WarpgroupTile *tile = nullptr;
  int parts = 1;
};

// Multiply-adds of a multiprocessor in the time in which a tile's parts are added up: each program
// writes its accumulators, the last one reads all, and they synchronize at a counter. From what an
// H100 does per cycle; not timed as a whole.
double costOfAddingUp(const WarpgroupTile &tile, int parts) {
  constexpr double kMultiplyAdds = 2048, kBytes = 64, kSumBytes = 4, kCyclesOfCounter = 3000;
  double cycles = tile.m * tile.n * kSumBytes * (parts + 1) / kBytes + kCyclesOfCounter;
  return parts == 1 ? 0 : cycles * kMultiplyAdds;
}

// A program takes the time of its dots; one runs per multiprocessor, and the last wave takes as
// long as a full one.
double timeOf(const Candidate &candidate, const MatmulShape &shape) {
  const WarpgroupTile &tile = *candidate.tile;
  auto waves = static_cast<double>(
      cdiv(programs(shape, tile.m, tile.n) * candidate.parts, shape.multiprocessors));
  double depth = static_cast<double>(shape.k) / candidate.parts;
  return waves * (tile.m * tile.n * depth / tile.rate + costOfAddingUp(tile, candidate.parts));
}

// Where tiles leave multiprocessors idle, so that all parts run in one wave.
bool maySplitK(const Candidate &candidate, const MatmulShape &shape) {
  return programs(shape, candidate.tile->m, candidate.tile->n) * candidate.parts <=
             shape.multiprocessors &&
         shape.k >= kLeastDepthOfPart * candidate.parts;
}

Candidate bestCandidate(const MatmulShape &shape) {
  Candidate best, bestSplit;
  double time = 0, timeSplit = 0;
  for (const WarpgroupTile &tile : kTiles)
    for (int parts : {1, 2, 4, 8}) {
      Candidate candidate{&tile, parts};
      if (!fits(tile, shape) || (parts > 1 && !maySplitK(candidate, shape)))
        continue;
      double taken = timeOf(candidate, shape), &least = parts == 1 ? time : timeSplit;
      Candidate &known = parts == 1 ? best : bestSplit;
      if (!known.tile || taken < least)
        known = candidate, least = taken;
    }
  return bestSplit.tile && timeSplit * kLeastGainOfSplitK <= time ? bestSplit : best;
}

} // namespace

MatmulTiles warpgroupTiles(const MatmulShape &shape) {
  if (pingPongPays(shape))
    return {128, 128, 64, 4, MatmulSchedule::PingPong};
  Candidate best = bestCandidate(shape);
  const WarpgroupTile &tile = *best.tile;
  // 16-bit tiles are stored in epilogue subtiles: shared memory is left to the next tile's steps.
  bool hasSeveral = programs(shape, tile.m, tile.n) > shape.multiprocessors;
  // One row of the widest swizzle per step; with two, one dot's accumulators are promoted while the
  // next dot is in flight.
  bool isPromoted = promotesAccumulators(shape);
  int depth = (isPromoted ? 256 : 128) / static_cast<int>(sizeOf(shape.dtype));
  bool isPersistent = hasSeveral && sizeOf(shape.result) == 2;
  return {tile.m, tile.n, depth, tile.warps,
          isPersistent ? persistentSchedule(isPromoted) : splitKSchedule(best.parts, isPromoted)};
}

} // namespace tile::ops::detail
