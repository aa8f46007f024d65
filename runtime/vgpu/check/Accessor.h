// An access about to happen, with all that the race rules must know to compare it with those
// before.
//
// The rules know no machine: what they ask of the launch is in RaceContext, and what they find goes
// to its `report`, which knows how to name warps, blocks and lines. `warp` and `op` are handed
// through to it unseen.
#pragma once

#include "runtime/vgpu/check/AccessRecord.h"
#include "runtime/vgpu/check/Checks.h"
#include "runtime/vgpu/check/Clock.h"

#include <functional>

namespace tile::vgpu {

struct Warp;
struct Op;
struct Accessor;

/// Which word a cell stands for, to report it.
struct RaceAddress {
  Space space = Space::Shared;
  uint64_t address = 0;
};

/// Two accesses that nothing orders: the earlier one, of a warp or another actor of `cluster`, and
/// the accessor's.
struct RaceConflict {
  AccessRecord earlier;
  uint32_t cluster = 0;
  RaceAddress where;
  FindingKind kind = FindingKind::Race;
};

/// The facts of a launch that the rules need. Clusters are numbered across launches that may
/// overlap (dependent launches), so that those of a launch before have lower numbers.
struct RaceContext {
  uint32_t firstCluster = 0; // of this launch
  uint32_t endedBelow =
      0; // clusters that had ended before this launch started, whoever waits for them
  uint32_t endedFrom = ~0u;    // so had those from here on
  uint32_t unawaitedBelow = 0; // clusters that a wait does not wait for: a launch since has not
  uint32_t clusterSize = 1;    // blocks
  std::function<void(const RaceConflict &, const Accessor &)> report;
};

/// Made once for an instruction and used for all of its lanes and bytes: it caches what it has
/// found ordered.
struct Accessor {
  const RaceContext *context = nullptr;
  const WarpClock *clock = nullptr; // of its lane
  Warp *warp = nullptr;             // who makes or has issued it
  const Op *op = nullptr;
  unsigned lane = 0;
  // The record to be stored; its actor is the warp, or what completes an asynchronous operation.
  AccessRecord record;
  bool proxy = false; // through the async proxy: earlier generic writes need fence.proxy.async
  // By the check `proxy`: asynchronous writes need a fence after generic reads as well.
  bool fencesReads = false;
  bool ordersOwnAccess =
      true;                 // false for wgmma, which is not ordered after its own thread's accesses
  uint32_t proxiedTime = 0; // of a proxy's: up to it the block's generic writes are visible to it
  // The last write and the last read found to be ordered before it, whatever its lane: tiles are
  // long runs of cells in one state, so most need not be asked about again.
  mutable uint64_t orderedWrite = ~uint64_t{0}, orderedRead = ~uint64_t{0};

  // Reads that it was added to, before and after.
  mutable uint64_t joinedReads = ~uint64_t{0};
  mutable AccessRecord jointReads;

  void setLane(unsigned to) { lane = to, record.lane = to; }
  AccessKind kind() const { return record.kind(); }
  uint32_t cluster() const { return clock->cluster; }
};
/// True if an access of the accessor's own cluster is ordered before what it does now.
bool happenedBefore(AccessRecord earlier, const Accessor &accessor);
/// True if all of these reads are ordered before what the warp does now.
bool coversAll(ManyReads many, const WarpClock &clock);

} // namespace tile::vgpu
