// Conversions between float and the bits of narrower floats, by integer arithmetic: what half,
// bfloat16 and the 8-bit floats convert by. Self-contained: devices include it without the
// compiler.
#pragma once

#include <bit>
#include <cstdint>

namespace tile::detail {

/// Rounds a float to `mantissaBits` of mantissa (nearest even) by integer arithmetic: f32 bits ->
/// f16 bits.
constexpr uint16_t halfBits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7fffu); // NaN
  if (magnitude >= 0x477ff000u)                   // rounds to 65520 or more: infinity
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x33000001u) // at most half of the smallest subnormal
    return static_cast<uint16_t>(sign);
  uint32_t exponent = magnitude >> 23, mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  uint32_t shift = exponent < 113 ? 13 + (113 - exponent) : 13;
  uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1),
           half = 1u << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  uint32_t result = exponent < 113 ? kept : ((exponent - 113) << 10) + kept;
  return static_cast<uint16_t>(sign | result);
}

constexpr float floatOfHalf(uint16_t bits) {
  uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31, mantissa = bits & 0x3ffu;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

constexpr uint16_t bfloatBits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40u); // NaN stays NaN
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

/// f32 -> 8 bits, to nearest even; beyond `largest`, infinities included, becomes `largest`; NaN is
/// 0x7f.
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
  // The sum with a number of this exponent counts spacings in its last bits, rounded by the
  // addition.
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

} // namespace tile::detail
