// How much each block loads: boxes of bulk copies, or plain loads. It is counted by stepping the
// warps that load.
#pragma once

#include "runtime/vgpu/time/TimedLaunch.h"

namespace tile::vgpu {

class BlockWork {
public:
  explicit BlockWork(TimedLaunch &launch);
  /// Loads of the block of that turn; at least 1. Beyond kMostCounted blocks those in between are
  /// taken for their neighbours.
  double of(uint64_t turn);
  /// An atomic of global memory hands out work.
  bool takesTurns() const { return takesTurns_; }

private:
  double count(uint64_t turn);
  double walk(Warp &warp);

  TimedLaunch &launch_;
  std::unique_ptr<Cluster> room_;
  std::vector<uint32_t> loaders_; ///< warps that load
  bool knowsLoaders_ = false, takesTurns_ = false;
  uint64_t fetches_ = 0;
  std::unordered_map<uint64_t, double> known_; ///< by turn
};

} // namespace tile::vgpu
