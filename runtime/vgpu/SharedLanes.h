// The common case of accesses to shared memory, found quickly: all lanes of a warp name the block's own memory by 32-bit addresses,
// and nobody wants to know of it.
#pragma once

#include "runtime/vgpu/Lanes.h"
#include "runtime/vgpu/Launch.h"

namespace tile::vgpu {

/// The offsets in the block's shared memory of accesses of `bytes` at the addresses in `row` plus `offset`, for the first
/// `lanes` lanes. False if the general way has to be taken: for a check, for counters, for memory barriers, or for a fault.
inline bool findOwnShared(Warp &warp, uint32_t row, int64_t offset, uint32_t bytes, unsigned lanes,
                          uint32_t (&places)[kLanes]) {
  const Cta &cta = *warp.cta;
  const Launch &launch = *cta.launch;
  if (warp.mask != kFullMask || warp.shadow || cta.races || launch.setup().counting ||
      !cta.mbarriers.empty() || launch.sharedBytes() < bytes)
    return false;
  const uint32_t *base = warp.row<uint32_t>(row);
  uint32_t shift = static_cast<uint32_t>(offset) - kSharedBase;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    places[lane] = base[lane] + shift;
  // Of constant length, so that it is vector code.
  uint32_t last = launch.sharedBytes() - bytes, outside = 0, low = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t place = lane < lanes ? places[lane] : 0;
    outside |= place | (last - place); // one of them is negative
    low |= place;
  }
  return static_cast<int32_t>(outside) >= 0 && low % bytes == 0;
}

} // namespace tile::vgpu
