// Which blocks the multiprocessor gets that stands for all, and how the time of the launch follows
// from its time.
#pragma once

#include "runtime/vgpu/time/TimedLaunch.h"

namespace tile::vgpu {

struct Placement {
  std::vector<uint64_t> turns; ///< of the blocks that it gets, in order
  uint64_t blocks = 0; ///< that it would get in all; more than `turns` if those behind are alike
  double factor = 1;   ///< the time of the launch, for one of its own
};

/// The work of a block is the number of its loads. Blocks of different work are placed as the GPU
/// does, each where a place is free first. Blocks that take work from a counter end together; those
/// that deal it out by their index wait for the busiest.
Placement placeBlocks(TimedLaunch &launch);

/// The blocks of one multiprocessor, of blocks that are alike.
Placement placementOf(const TimedLaunch &launch, unsigned multiprocessor, double loadsOfBlock);

} // namespace tile::vgpu
