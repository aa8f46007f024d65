// Counts on the virtual GPU what a call reads and writes.
#pragma once

#include "bench/ops/Cases.h"

namespace tile::bench {

struct Traffic {
  int64_t leastBytes = 0;
  double flops = 0;
  double askedOverLeast = 0; ///< bytes of sectors that warps ask for, of memory or a cache
  double distinctOverLeast =
      0; ///< bytes of those that differ within a launch, which memory moves at the least
  double loadEfficiency = 1, storeEfficiency = 1; ///< bytes used of the sectors moved, of 1
  double bankConflicts = 0;                       ///< of the cycles of shared memory, of 1
  uint64_t launches = 0;
};

/// Runs the call once on a virtual GPU of its own.
Traffic trafficOf(const Case &each);

} // namespace tile::bench
