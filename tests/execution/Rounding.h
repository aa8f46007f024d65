// What a number is as a float of another type: written from integers, since each conversion of the host's own would round.
#pragma once

#include "tests/execution/Numbers.h"

#include <bit>

namespace tile::test {

/// A finite number: mantissa * 2^exponent.
struct Number {
  bool isNegative = false;
  uint64_t mantissa = 0;
  int exponent = 0;
};

inline Number numberOf(double value) {
  int exponent = 0;
  double fraction = std::frexp(std::fabs(value), &exponent);
  return {std::signbit(value), static_cast<uint64_t>(std::ldexp(fraction, 53)), exponent - 53};
}
template <class T> Number numberOfInteger(T value) {
  bool isNegative = std::is_signed_v<T> && value < 0;
  auto bits = static_cast<uint64_t>(value);
  return {isNegative, isNegative ? 0 - bits : bits, 0};
}

enum class Rounded { NearestEven, TowardZero };

/// The largest finite number.
inline double largestOf(DType dtype) {
  if (dtype == e4m3)
    return 448;
  int digits = mantissaBits(dtype);
  int exponent = dtype == e5m2 ? 15 : 1 - smallestExponent(dtype);
  return std::ldexp(2 - std::ldexp(1.0, -digits), exponent);
}

/// The number in a float of `dtype`, as the language rounds: 8-bit floats saturate, others become infinite, unless the rounding
/// is toward zero.
inline double roundedTo(DType dtype, const Number &x, Rounded how) {
  double sign = x.isNegative ? -1 : 1;
  if (x.mantissa == 0)
    return sign * 0.0;
  int top = x.exponent + 63 - std::countl_zero(x.mantissa);                // its exponent
  int unit = std::max(top, smallestExponent(dtype)) - mantissaBits(dtype); // of the last place
  int dropped = unit - x.exponent;
  double result = std::ldexp(static_cast<double>(x.mantissa), x.exponent);
  if (dropped > 0) {
    uint64_t kept = dropped < 64 ? x.mantissa >> dropped : 0;
    uint64_t rest = dropped < 64 ? x.mantissa & ((uint64_t{1} << dropped) - 1) : x.mantissa;
    uint64_t half = dropped <= 64 ? uint64_t{1} << (dropped - 1) : 0; // more is far below it
    bool isUp = how == Rounded::NearestEven && half && (rest > half || (rest == half && kept & 1));
    result = std::ldexp(static_cast<double>(kept + isUp), unit);
  }
  double largest = largestOf(dtype);
  bool saturates = how == Rounded::TowardZero || dtype == e4m3 || dtype == e5m2;
  return sign * (result <= largest ? result : saturates ? largest : HUGE_VAL);
}

/// The same of any double: infinities stay, but in 8-bit floats.
inline double roundedTo(DType dtype, double x, Rounded how) {
  if (std::isnan(x))
    return x;
  if (std::isinf(x))
    return dtype == e4m3 || dtype == e5m2 ? std::copysign(largestOf(dtype), x) : x;
  return roundedTo(dtype, numberOf(x), how);
}

/// `count` numbers that a float of `dtype` may round either way: at its numbers and the middles between them, a little beside
/// both, of exponents from `least` to `most`.
inline std::vector<double> nearTies(DType dtype, int least, int most, int count, uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    int exponent =
        least + static_cast<int>(random.bits() % static_cast<uint64_t>(most - least + 1));
    int digits = mantissaBits(dtype) + 1;
    double middle = static_cast<double>(random.bits() >> (64 - digits)) / std::exp2(digits);
    double value = 1 + middle; // every second is between two numbers
    if (i % 4)
      value += std::ldexp(i % 4 == 1 ? 1.0 : -1.0, -1 - static_cast<int>(random.bits() % 52));
    values.push_back(std::ldexp(i % 2 ? -value : value, exponent));
  }
  return values;
}

} // namespace tile::test
