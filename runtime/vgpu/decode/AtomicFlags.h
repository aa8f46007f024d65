// Op::a of atomic operations.
#pragma once

#include <cstdint>

namespace tile::vgpu {

/// The address is 64 bits wide; the scope is the block; where the order stands.
constexpr uint32_t kWideAddress = 1, kNarrowAtomic = 2, kAtomicOrderShift = 4;

} // namespace tile::vgpu
