// The two 8-bit floats of the OCP standard "8-bit Floating Point Specification (OFP8)", revision 1.0, in memory.
#pragma once

#include <bit>
#include <cstdint>

namespace tile {

namespace detail {

/// f32 -> 8 bits, to nearest even; beyond `largest`, infinities included, becomes `largest`; NaN is 0x7f.
constexpr uint8_t float8Bits(float value, int mantissaBits, int smallestExponent, float largest) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 24) & 0x80u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return 0x7f;
  if (magnitude > std::bit_cast<uint32_t>(largest))
    magnitude = std::bit_cast<uint32_t>(largest);
  uint32_t smallest = static_cast<uint32_t>(smallestExponent + 127) << 23;
  uint32_t exponent = magnitude & 0x7f800000u;
  if (exponent < smallest)
    exponent = smallest; // subnormal: the spacing stops shrinking
  // The sum with a number of this exponent counts spacings in its last bits, rounded by the addition.
  uint32_t ruler = exponent + (static_cast<uint32_t>(23 - mantissaBits) << 23);
  float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(ruler);
  uint32_t spacings = std::bit_cast<uint32_t>(sum) - ruler;
  uint32_t before = (exponent - smallest) >> (23 - mantissaBits);
  return static_cast<uint8_t>(sign | (before + spacings));
}

constexpr float floatOfFloat8(uint8_t bits, int mantissaBits, int smallestExponent, bool isNan,
                              bool isInfinite) {
  uint32_t sign = (bits & 0x80u) << 24, magnitude = bits & 0x7fu;
  if (isNan || isInfinite)
    return std::bit_cast<float>(sign | 0x7f800000u | (isNan ? 0x400000u : 0u));
  uint32_t exponent = magnitude >> mantissaBits, mantissa = magnitude & ((1u << mantissaBits) - 1);
  float spacing =
      std::bit_cast<float>(static_cast<uint32_t>(smallestExponent - mantissaBits + 127) << 23);
  float value = static_cast<float>(mantissa) * spacing;
  if (exponent > 0) // mantissa and exponent shift into place: the format is a float with fewer bits
    value = std::bit_cast<float>(
        static_cast<uint32_t>(static_cast<int>(exponent) - 1 + smallestExponent + 127) << 23 |
        mantissa << (23 - mantissaBits));
  return sign ? -value : value;
}

} // namespace detail

/// E4M3 in memory (e4m3fn: no infinity, 0x7f and 0xff are NaN; largest 448). Conversion from float rounds to
/// nearest even and saturates.
struct float8_e4m3 {
  uint8_t bits = 0;
  constexpr float8_e4m3() = default;
  constexpr float8_e4m3(float value) : bits(detail::float8Bits(value, 3, -6, 448.0f)) {}
  constexpr operator float() const {
    return detail::floatOfFloat8(bits, 3, -6, (bits & 0x7f) == 0x7f, false);
  }
};

/// E5M2 in memory (the upper half of an IEEE binary16; largest 57344). Conversion from float rounds to nearest even
/// and saturates, infinities included.
struct float8_e5m2 {
  uint8_t bits = 0;
  constexpr float8_e5m2() = default;
  constexpr float8_e5m2(float value) : bits(detail::float8Bits(value, 2, -14, 57344.0f)) {}
  constexpr operator float() const {
    return detail::floatOfFloat8(bits, 2, -14, (bits & 0x7f) > 0x7c, (bits & 0x7f) == 0x7c);
  }
};

} // namespace tile
