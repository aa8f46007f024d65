// What the loads of one multiprocessor cost outside of it: lines that blocks of a GPC have in
// common come once, and the first touch of a line comes from DRAM.
#pragma once

#include "runtime/vgpu/time/Footprint.h"

namespace tile::vgpu {

struct Supply {
  // By load of the sampled place.
  std::vector<double> distinct; ///< share of the bytes that are distinct inside their GPC
  std::vector<double> fromDram; ///< share of the bytes that L2 does not have
  std::vector<bool> isCold;     ///< the load waits for DRAM
  double meanDistinct = 1, meanFromDram = 1;
};

/// Of the loads of a place, which is the index of its block in the first round.
Supply findSupply(const TimedLaunch &launch, const Footprint &footprint, unsigned place);

} // namespace tile::vgpu
