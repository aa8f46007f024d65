// Whole logarithms, by which extents become numbers of bits.
#pragma once

#include <bit>
#include <cstdint>

namespace tile::layout {

/// The largest n with 2^n <= value; 0 for values below 1.
inline int log2Of(int64_t value) {
  return std::bit_width(static_cast<uint64_t>(value < 1 ? 1 : value)) - 1;
}

} // namespace tile::layout
