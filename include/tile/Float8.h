// The two 8-bit floats of the OCP standard "8-bit Floating Point Specification (OFP8)", revision
// 1.0, in memory.
#pragma once

#include <tile/detail/FloatBits.h>

#include <cstdint>

namespace tile {

/// E4M3 in memory (e4m3fn: no infinity, 0x7f and 0xff are NaN; largest 448). Conversion from float
/// rounds to nearest even and saturates.
struct float8_e4m3 {
  uint8_t bits = 0;
  constexpr float8_e4m3() = default;
  constexpr float8_e4m3(float value) : bits(detail::float8Bits(value, 3, -6, 448.0f)) {}
  constexpr operator float() const {
    return detail::floatOfFloat8(bits, 3, -6, (bits & 0x7f) == 0x7f, false);
  }
};

/// E5M2 in memory (the upper half of an IEEE binary16; largest 57344). Conversion from float rounds
/// to nearest even and saturates, infinities included.
struct float8_e5m2 {
  uint8_t bits = 0;
  constexpr float8_e5m2() = default;
  constexpr float8_e5m2(float value) : bits(detail::float8Bits(value, 2, -14, 57344.0f)) {}
  constexpr operator float() const {
    return detail::floatOfFloat8(bits, 2, -14, (bits & 0x7f) > 0x7c, (bits & 0x7f) == 0x7c);
  }
};

} // namespace tile
