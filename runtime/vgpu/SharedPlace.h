// Where a shared address is: in the block's own shared memory, or in that of another block of its cluster.
#pragma once

#include "runtime/vgpu/Cluster.h"

namespace tile::vgpu {

/// Addresses of the window shared::cluster carry the block's rank + 1 from this bit on; without one they are the block's own.
constexpr unsigned kRankShift = 24;
constexpr uint32_t kOffsetMask = (1u << kRankShift) - 1;

struct SharedPlace {
  Cta *cta = nullptr;   // null: the cluster has no such block
  uint32_t address = 0; // within its shared memory
};

inline SharedPlace placeOf(Warp &warp, uint64_t address) {
  uint64_t rank = address >> kRankShift;
  Cluster &cluster = *warp.cta->cluster;
  if (rank == 0)
    return {warp.cta, static_cast<uint32_t>(address)};
  if (rank > cluster.ctas.size())
    return {};
  return {cluster.ctas[rank - 1].get(), static_cast<uint32_t>(address) & kOffsetMask};
}

/// The same place seen from the block of `rank`.
inline uint32_t mapAddress(uint32_t address, uint32_t rank) {
  return (address & kOffsetMask) | (rank + 1) << kRankShift;
}

} // namespace tile::vgpu
