// Swizzling: the exchange of 16-byte chunks by which tiles in shared memory spread their columns over the banks.
//
// It is a function of the absolute shared address, so the copy engine, wgmma and a kernel's own loads agree on it
// whatever the start of the tile: within spans of 16 << log2Chunks bytes, bits 4 and up are XORed with those from 7 on, which
// number the rows of 128 bytes. A matrix descriptor may count these rows from another one on.
#pragma once

#include <cstdint>

namespace tile::vgpu {

constexpr uint32_t kChunkBytes = 16;

/// log2Chunks: 0 none, 1, 2, 3 for spans of 32, 64, 128 bytes. `baseRow` is the row of 128 bytes, modulo 8, at which the pattern
/// begins. An involution, which changes nothing outside the span.
constexpr uint32_t swizzled(uint32_t address, unsigned log2Chunks, uint32_t baseRow = 0) {
  uint32_t mask = (1u << log2Chunks) - 1;
  return address ^ (((address >> 7) - baseRow) & mask) << 4;
}

} // namespace tile::vgpu
