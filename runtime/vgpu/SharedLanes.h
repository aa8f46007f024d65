// The common case of accesses to shared memory, found quickly: all lanes of a warp name the block's own memory by 32-bit addresses,
// and nobody wants to know of it.
#pragma once

#include "runtime/vgpu/Lanes.h"
#include "runtime/vgpu/Launch.h"

namespace tile::vgpu {

/// The offsets in the block's shared memory of accesses of `bytes`, a power of two, at the addresses in `row` plus `offset`,
/// for the first `lanes` lanes, a multiple of 8. False if the general way has to be taken: for a check, for counters, for
/// memory barriers, or for a fault.
inline bool findOwnShared(Warp &warp, uint32_t row, int64_t offset, uint32_t bytes, unsigned lanes,
                          uint32_t (&places)[kLanes]) {
  const Cta &cta = *warp.cta;
  const Launch &launch = *cta.launch;
  if (warp.mask != kFullMask || warp.shadow || cta.races || launch.setup().counting ||
      !cta.mbarriers.empty() || launch.sharedBytes() < bytes)
    return false;
  const uint32_t *base = warp.row<uint32_t>(row);
  uint32_t shift = static_cast<uint32_t>(offset) - kSharedBase, last = launch.sharedBytes() - bytes;
  // Written as vectors: places and registers may be the same to the compiler.
  using Vector __attribute__((vector_size(32))) = uint32_t;
  constexpr unsigned kWidth = sizeof(Vector) / sizeof(uint32_t);
  Vector faults = {};
  for (unsigned lane = 0; lane < lanes; lane += kWidth) {
    Vector place;
    std::memcpy(&place, base + lane, sizeof place);
    place += shift;
    std::memcpy(places + lane, &place, sizeof place);
    // Negative: outside, or not aligned.
    faults |= place | (last - place) | -(place & (bytes - 1));
  }
  uint32_t fault = 0;
  for (unsigned i = 0; i < kWidth; ++i)
    fault |= faults[i];
  return static_cast<int32_t>(fault) >= 0;
}

} // namespace tile::vgpu
