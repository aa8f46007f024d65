// Exact conversions between half formats and float, and rounding of doubles to narrow formats.
#pragma once

#include <algorithm>
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
inline uint32_t encodeFloat(double value, FloatFormat format, Rounding rounding,
                            bool saturateFinite = false) {
  constexpr int kDigits = 52, kBias = 1023,
                kMaxShift = 60; // by which any double is less than half a unit
  int bias = (1 << (format.exponentBits - 1)) - 1;
  uint32_t exponentOnes = ((1u << format.exponentBits) - 1) << format.mantissaBits,
           mantissaOnes = (1u << format.mantissaBits) - 1, nan = exponentOnes | mantissaOnes,
           infinity = format.hasInfinity ? exponentOnes : nan, largest = infinity - 1;
  auto bits = std::bit_cast<uint64_t>(value);
  bool negative = bits >> 63;
  uint32_t sign = uint32_t{negative} << (format.exponentBits + format.mantissaBits);
  auto field = static_cast<int>(bits >> kDigits & 0x7ff);
  uint64_t digits = bits & ((uint64_t{1} << kDigits) - 1);
  if (field == 0x7ff)
    return digits ? nan : sign | (saturateFinite ? largest : infinity);
  digits |= uint64_t{field != 0} << kDigits;
  // Below the least exponent of normal numbers the spacing stops shrinking.
  int least = 1 - bias, exponent = std::max(field, 1) - kBias, place = std::max(exponent, least);
  int shift = std::min(kDigits - format.mantissaBits + place - exponent, kMaxShift);
  uint64_t whole = digits >> shift, rest = digits & ((uint64_t{1} << shift) - 1),
           half = uint64_t{1} << (shift - 1);
  bool up = rounding == Rounding::NearestEven   ? rest > half || (rest == half && (whole & 1))
            : rounding == Rounding::NearestAway ? rest >= half
            : rounding == Rounding::Down        ? negative && rest
            : rounding == Rounding::Up          ? !negative && rest
                                                : false;
  // `whole` has the leading one of normal numbers, which counts as one exponent; so does a carry out of the rounding.
  uint64_t code = (static_cast<uint64_t>(place - least) << format.mantissaBits) + whole + up;
  if (code <= largest)
    return sign | static_cast<uint32_t>(code);
  bool towardZero = rounding == Rounding::Zero || (rounding == Rounding::Down && !negative) ||
                    (rounding == Rounding::Up && negative);
  return sign | (saturateFinite || towardZero ? largest : infinity);
}

/// A NaN of f64 in the format: its sign and the upper digits of its payload, quiet. `format` has infinities.
inline uint32_t encodeNan(double nan, FloatFormat format) {
  auto bits = std::bit_cast<uint64_t>(nan);
  uint32_t sign = static_cast<uint32_t>(bits >> 63) << (format.exponentBits + format.mantissaBits),
           exponentOnes = ((1u << format.exponentBits) - 1) << format.mantissaBits,
           digits = static_cast<uint32_t>((bits << 12) >> (64 - format.mantissaBits));
  return sign | exponentOnes | digits | 1u << (format.mantissaBits - 1);
}

/// The exact value.
inline double decodeFloat(uint32_t bits, FloatFormat format) {
  int bias = (1 << (format.exponentBits - 1)) - 1;
  uint32_t mantissaOnes = (1u << format.mantissaBits) - 1, mantissa = bits & mantissaOnes;
  int ones = (1 << format.exponentBits) - 1,
      exponent = static_cast<int>(bits >> format.mantissaBits) & ones;
  double sign = bits >> (format.exponentBits + format.mantissaBits) & 1 ? -1 : 1;
  if (exponent == ones && format.hasInfinity)
    return mantissa ? NAN : sign * INFINITY;
  if (exponent == ones && mantissa == mantissaOnes)
    return NAN;
  uint32_t digits = mantissa | uint32_t{exponent != 0} << format.mantissaBits;
  auto powerField =
      static_cast<uint64_t>(std::max(exponent, 1) - bias - format.mantissaBits + 1023);
  return sign * digits * std::bit_cast<double>(powerField << 52);
}

inline float halfToFloat(uint16_t bits) {
  uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  // Scaling by 2^112 moves the exponent bias, for subnormals too; infinities and NaNs need their exponent restored.
  float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  uint32_t result = std::bit_cast<uint32_t>(value) | (magnitude >= 0x7c00u ? 0x7f800000u : 0);
  return std::bit_cast<float>(result | sign);
}

inline float bfloatToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// Nearest even; NaN becomes 0x7fff. Without branches, for loops over lanes.
inline uint16_t floatToHalf(float value) {
  constexpr uint32_t kInfinity = 0x7f800000, kOverflow = 0x477ff000, kLeastNormal = 0x38800000;
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = (bits >> 16) & 0x8000u,
           magnitude = bits & 0x7fffffffu;
  // Adding 0.5 leaves the rounded subnormal in the low mantissa bits.
  uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1) - 0x38000000u) >> 13;
  uint32_t finite = magnitude < kLeastNormal ? subnormal : normal;
  uint32_t number = sign | (magnitude >= kOverflow ? 0x7c00u : finite);
  return static_cast<uint16_t>(magnitude > kInfinity ? 0x7fffu : number);
}

inline uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
}

/// A number that is not negative, its digits cut off; overflow is infinite. NaN becomes 0x7fff.
inline uint16_t cutToHalf(float value) {
  constexpr uint32_t kInfinity = 0x7f800000, kOverflow = 0x47800000, kLeastNormal = 0x38800000;
  uint32_t bits = std::bit_cast<uint32_t>(value), normal = (bits - 0x38000000u) >> 13;
  float small = bits < kLeastNormal ? value : 0.0f;
  uint32_t finite =
      bits < kLeastNormal ? static_cast<uint32_t>(static_cast<int32_t>(small * 0x1p24f)) : normal;
  return static_cast<uint16_t>(bits > kInfinity ? 0x7fffu : bits >= kOverflow ? 0x7c00u : finite);
}

inline uint16_t cutToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>(bits > 0x7f800000u ? 0x7fffu : bits >> 16);
}

} // namespace tile::vgpu
