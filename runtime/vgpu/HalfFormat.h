// Exact conversions between half formats and float, and rounding of doubles to narrow formats.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tile::vgpu {

/// A narrow binary format: how many exponent and mantissa bits, and whether it has infinities.
struct FloatFormat {
  int exponentBits, mantissaBits;
  bool hasInfinity; // e4m3 has none: its only NaN is all ones
};
inline constexpr FloatFormat kHalfFormat{5, 10, true}, kBfloatFormat{8, 7, true},
    kTf32Format{8, 10, true}, kE5m2Format{5, 2, true}, kE4m3Format{4, 3, false};

enum class Rounding : uint8_t { NearestEven, NearestAway, Zero, Down, Up };

/// Rounds to the format; the result is right-aligned. NaN gives the format's canonical NaN, overflow infinity (or NaN, or
/// with `saturateFinite` the largest number); rounding toward zero overflows to the largest number.
uint32_t encodeFloat(double value, FloatFormat format, Rounding rounding,
                     bool saturateFinite = false);
/// The exact value.
double decodeFloat(uint32_t bits, FloatFormat format);

inline float halfToFloat(uint16_t bits) {
  uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  // Scaling by 2^112 moves the exponent bias, for subnormals too; infinities and NaNs need their exponent restored.
  float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  uint32_t result = std::bit_cast<uint32_t>(value) | (magnitude >= 0x7c00u ? 0x7f800000u : 0);
  return std::bit_cast<float>(result | sign);
}

inline float bfloatToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// Nearest even; NaN becomes 0x7fff.
inline uint16_t floatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = (bits >> 16) & 0x8000u,
           magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return 0x7fff;
  if (magnitude >= 0x477ff000u)
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Adding 0.5 leaves the rounded subnormal in the low mantissa bits.
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

inline uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

} // namespace tile::vgpu
