// The common case of accesses to shared memory, found quickly: all lanes of a warp name the block's own memory by 32-bit
// addresses, and no checker and no counter is on.
#pragma once

#include "runtime/vgpu/isa/memory/LaneVectors.h"
#include "runtime/vgpu/machine/Launch.h"

#include <optional>

namespace tile::vgpu {

/// The host addresses at which the lanes of a warp access their block's own memory.
struct OwnShared {
  uintptr_t base = 0; // of what registers hold
  const uint32_t *registers = nullptr;

  uint8_t *operator[](unsigned lane) const {
    return reinterpret_cast<uint8_t *>(base + registers[lane]);
  }
};

/// Accesses of `bytes`, a power of two, at the addresses in `row` plus `offset`, by the first `lanes` lanes, a multiple of 8.
/// Nothing if the general way has to be taken: for a check, for counters, for memory barriers, or for a fault.
inline std::optional<OwnShared> findOwnShared(Warp &warp, uint32_t row, int32_t offset,
                                              uint32_t bytes, unsigned lanes) {
  Cta &cta = *warp.cta;
  const Launch &launch = *cta.launch;
  if (warp.mask != kFullMask || warp.shadow || cta.races || launch.setup().counting ||
      !cta.mbarriers.empty() || launch.sharedBytes() < bytes)
    return std::nullopt;
  const uint32_t *registers = warp.row<uint32_t>(row);
  uint32_t begin = cta.sharedBegin(), shift = static_cast<uint32_t>(offset) - begin,
           last = launch.sharedBytes() - bytes;
  if (!arePlacesInside(registers, lanes, shift, last, bytes))
    return std::nullopt;
  auto memory = reinterpret_cast<uintptr_t>(cta.shared.data());
  return OwnShared{memory + static_cast<uintptr_t>(int64_t{offset} - int64_t{begin}), registers};
}

} // namespace tile::vgpu
