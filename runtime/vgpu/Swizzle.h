// Swizzling: the exchange of 16-byte chunks by which tiles in shared memory spread their columns over the banks.
//
// It is a function of the absolute shared address, so the copy engine, wgmma and a kernel's own loads agree on it
// whatever the start of the tile: within spans of 16 << log2Chunks bytes, bits 4 and up are XORed with those from 7 on.
#pragma once

#include <cstdint>

namespace tile::vgpu {

constexpr uint32_t kChunkBytes = 16;

/// log2Chunks: 0 none, 1, 2, 3 for spans of 32, 64, 128 bytes. An involution.
constexpr uint32_t swizzled(uint32_t address, unsigned log2Chunks) {
  uint32_t mask = ((1u << log2Chunks) - 1) << 4;
  return address ^ ((address >> 3) & mask);
}

/// Addresses at multiples of this begin the pattern.
constexpr uint32_t swizzlePatternBytes(unsigned log2Chunks) { return 128u << log2Chunks; }

} // namespace tile::vgpu
