// A shared address names a byte of the block's own shared memory, or of another block's of its
// cluster.
#pragma once

#include "runtime/vgpu/machine/Cluster.h"

namespace tile::vgpu {

struct SharedAddress {
  Cta *cta = nullptr;   // null: the cluster has no such block
  uint32_t address = 0; // as in the first window
};

inline SharedAddress sharedAddressOf(Warp &warp, uint64_t address) {
  uint64_t rank = address >> kRankShift;
  const Cluster &cluster = *warp.cta->cluster;
  if (rank >= cluster.ctas.size())
    return {};
  return {cluster.ctas[rank].get(), static_cast<uint32_t>(address) & kOffsetMask};
}

/// The address of the same offset in the shared memory of the block of `rank`.
inline uint32_t mapAddress(uint32_t address, uint32_t rank) {
  return (address & kOffsetMask) | sharedWindowOf(rank);
}

} // namespace tile::vgpu
