// cp.async where nothing is checked, and what helps it in any case.
#pragma once

#include "runtime/vgpu/Warp.h"

namespace tile::vgpu {

/// Of a cp.async. Rows: target address, source address{, source size or ignore predicate}. Op::a: cp-size; bit 16: sources
/// are 64 bits wide, bit 17: the target is. Op::b: 0 no third operand, 1 source size, 2 ignore-source predicate.
constexpr uint32_t kWideSource = 1 << 16, kWideTarget = 1 << 17;

/// Whole copies of all lanes that nobody wants to know of. False: it has done nothing.
bool copyUnchecked(Warp &warp, const Op &op);
/// Asks for what lies `distance` bytes after these sources. Guesses cost little and never fault.
void prefetchSources(Warp &warp, uint32_t bytes, const uint8_t *const (&sources)[kLanes],
                     uint64_t distance);

} // namespace tile::vgpu
