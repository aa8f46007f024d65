// Random kernels of a few instructions whose addresses, sizes, strides, coordinates and descriptors are chosen to go wrong:
// at the ends of every memory and window, beyond them, and where sums wrap.
#pragma once

#include "runtime/device/TensorMap.h"

#include <cstdint>
#include <string>

namespace tile::fuzz {

/// A kernel `k` for sm_90a and what it is launched with. Its parameters: a buffer, an address, the distance of lanes (u64
/// each), a size (u32), the map (128 bytes).
struct HostileKernel {
  std::string ptx;
  uint64_t address = 0, laneDistance = 0;
  uint32_t size = 0;
  uint32_t cluster = 1; // blocks; the grid has two
  device::TensorMapParams map;
};

constexpr uint32_t kHostileThreads = 128;
constexpr uint64_t kHostileBufferBytes = 16384;

/// The kernel of a seed, whose pointers may be near `buffer`.
HostileKernel hostileKernel(uint64_t seed, uint64_t buffer);

} // namespace tile::fuzz
