// Rounding to narrow formats, bit by bit: the reference for all of them.
#include "runtime/vgpu/HalfFormat.h"

namespace tile::vgpu {

uint32_t encodeFloat(double value, FloatFormat format, Rounding rounding, bool saturateFinite) {
  int mantissaBits = format.mantissaBits, bias = (1 << (format.exponentBits - 1)) - 1;
  uint32_t signBit = std::signbit(value) ? 1u << (format.exponentBits + mantissaBits) : 0;
  uint32_t exponentOnes = ((1u << format.exponentBits) - 1) << mantissaBits,
           mantissaOnes = (1u << mantissaBits) - 1;
  if (std::isnan(value))
    return exponentOnes | mantissaOnes;
  uint32_t infinity = format.hasInfinity ? exponentOnes : exponentOnes | mantissaOnes;
  uint32_t largest = format.hasInfinity ? exponentOnes - 1 : (exponentOnes | mantissaOnes) - 1;
  double size = std::fabs(value);
  bool negative = signBit != 0;
  if (std::isinf(size))
    return signBit | (saturateFinite ? largest : infinity);
  int exponent = size == 0 ? -bias : std::ilogb(size);
  if (exponent < 1 - bias)
    exponent = 1 - bias; // subnormal: the spacing stops shrinking
  double scaled = std::ldexp(size, mantissaBits - exponent), whole = std::floor(scaled),
         rest = scaled - whole;
  bool odd = std::fmod(whole, 2.0) != 0;
  bool up = rounding == Rounding::NearestEven   ? rest > 0.5 || (rest == 0.5 && odd)
            : rounding == Rounding::NearestAway ? rest >= 0.5
            : rounding == Rounding::Down        ? negative && rest > 0
            : rounding == Rounding::Up          ? !negative && rest > 0
                                                : false;
  whole += up;
  // `whole` counts spacings of this exponent; the carry into the next one comes out of the addition.
  double biased =
      whole + static_cast<double>((exponent + bias - 1)) * std::ldexp(1.0, mantissaBits);
  if (biased <= largest)
    return signBit | static_cast<uint32_t>(biased);
  bool towardZero = rounding == Rounding::Zero || (rounding == Rounding::Down && !negative) ||
                    (rounding == Rounding::Up && negative);
  return signBit | (saturateFinite || towardZero ? largest : infinity);
}

double decodeFloat(uint32_t bits, FloatFormat format) {
  int mantissaBits = format.mantissaBits, bias = (1 << (format.exponentBits - 1)) - 1;
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  int exponent = static_cast<int>(bits >> mantissaBits) & ((1 << format.exponentBits) - 1);
  bool negative = bits >> (format.exponentBits + mantissaBits) & 1;
  bool top = exponent == (1 << format.exponentBits) - 1;
  double size = 0;
  if (top && format.hasInfinity)
    size = mantissa ? NAN : INFINITY;
  else if (top && mantissa == (1u << mantissaBits) - 1)
    size = NAN;
  else if (exponent == 0)
    size = std::ldexp(mantissa, 1 - bias - mantissaBits);
  else
    size = std::ldexp(static_cast<double>(mantissa | 1u << mantissaBits),
                      exponent - bias - mantissaBits);
  return negative ? -size : size;
}

} // namespace tile::vgpu
