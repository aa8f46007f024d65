// Numbers in tests: inputs that matter, seeded random ones, and the comparison with a reference.
#pragma once

#include <tile/Types.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tile::test {

/// The host type that holds any T exactly and has arithmetic: float for floats of 8 and 16 bits.
template <class T> using Wide = std::conditional_t<isFloat(dtypeOf<T>) && sizeof(T) < 4, float, T>;

/// What references compute with: double for floats, T itself for integers.
template <class T> using Exact = std::conditional_t<isFloat(dtypeOf<T>), double, T>;
/// What each pattern of a float of 8 or 16 bits is. References do little but convert, and tests are not optimised: a table
/// takes a fifth of the time.
template <class T> const double *exactOfBits() {
  static const struct Table {
    double values[size_t(1) << (8 * sizeof(T))];
    Table() {
      T value{};
      for (double &each : values)
        each = static_cast<Wide<T>>(value), ++value.bits;
    }
  } table;
  return table.values;
}
template <class T> Exact<T> exact(T value) {
  if constexpr (isFloat(dtypeOf<T>) && sizeof(T) < 4)
    return exactOfBits<T>()[value.bits];
  else
    return static_cast<Exact<T>>(value);
}

/// For messages.
template <class T> std::string show(T value) {
  char text[64];
  if constexpr (std::is_floating_point_v<T>)
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  else if constexpr (std::is_integral_v<T>)
    return std::to_string(value);
  else
    return show(static_cast<double>(static_cast<float>(value)));
  return text;
}

/// How far a result may be from the reference: `ulps` of the result's dtype at the reference, plus
/// `absolute`. Zero for both asks for equality after rounding.
struct Within {
  double ulps = 0;
  double absolute = 0;
};
inline constexpr Within kExactly{};

constexpr int mantissaBits(DType dtype) {
  switch (dtype) {
  case e5m2:
    return 2;
  case e4m3:
    return 3;
  case bf16:
    return 7;
  case f16:
    return 10;
  case f32:
    return 23;
  default:
    return 52;
  }
}
/// Of the smallest normal number.
constexpr int smallestExponent(DType dtype) {
  return dtype == e4m3 ? -6 : dtype == f16 || dtype == e5m2 ? -14 : dtype == f64 ? -1022 : -126;
}

/// The distance of neighbours at `reference`.
inline double ulpAt(DType dtype, double reference) {
  int exponent = smallestExponent(dtype);
  if (reference != 0 && std::isfinite(reference))
    exponent = std::max(exponent, std::ilogb(reference));
  return std::ldexp(1.0, exponent - mantissaBits(dtype));
}

/// The reference as the dtype holds it, rounded once: double -> float would round a second time
/// before the 16-bit types, so that step rounds to odd.
template <class T> double roundedTo(double reference) {
  if constexpr (std::is_same_v<T, double>)
    return reference;
  float nearest = static_cast<float>(reference);
  if constexpr (std::is_same_v<T, float>)
    return nearest;
  if (std::isfinite(nearest) && static_cast<double>(nearest) != reference) {
    bool away = std::abs(static_cast<double>(nearest)) > std::abs(reference);
    float down = away ? std::nextafter(nearest, 0.0f) : nearest;
    nearest = std::bit_cast<float>(std::bit_cast<uint32_t>(down) | 1u);
  }
  return static_cast<double>(static_cast<Wide<T>>(T(static_cast<Wide<T>>(nearest))));
}

/// Whether a result is as close as asked. A NaN reference asks for NaN, an infinite one (after
/// rounding to the dtype) for that infinity; -0 equals 0.
template <class T> bool isNear(T result, Exact<T> reference, Within within) {
  if constexpr (!isFloat(dtypeOf<T>)) {
    return result == reference;
  } else {
    double got = exact(result);
    if (std::isnan(reference) || std::isnan(got))
      return std::isnan(reference) && std::isnan(got);
    if (got == roundedTo<T>(reference))
      return true;
    double slack = within.ulps * ulpAt(dtypeOf<T>, reference) + within.absolute;
    if (slack == 0 || std::isinf(reference))
      return false;
    // Beside the largest number, infinity is as close as that number.
    if (std::isinf(got))
      return got == roundedTo<T>(reference + std::copysign(slack, got));
    return std::abs(got - reference) <= slack;
  }
}

/// A comparison that fails the test; `what` makes the words for the message.
template <class T, class What>
bool expectNear(T result, Exact<T> reference, Within within, What what) {
  if (isNear(result, reference, within))
    return true;
  ADD_FAILURE() << what() << " is " << show(result) << ", expected " << show(reference)
                << " within " << within.ulps << " ulp + " << within.absolute;
  return false;
}

/// A small deterministic generator (splitmix64).
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [lo, hi).
  double uniform(double lo, double hi) {
    return lo + (hi - lo) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }

private:
  uint64_t state_;
};

/// `count` numbers in [lo, hi), as T rounds them.
template <class T>
std::vector<T> uniform(int64_t count, double lo = -1, double hi = 1, uint64_t seed = 1) {
  Random random(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T &value : values)
    value = T(static_cast<Wide<T>>(random.uniform(lo, hi)));
  return values;
}

/// Numbers at the edges of a float: zeros, the smallest and largest, infinities and NaN.
template <class T> std::vector<T> floatEdges() {
  double tiny = std::ldexp(1.0, smallestExponent(dtypeOf<T>));
  double least = std::ldexp(tiny, -mantissaBits(dtypeOf<T>));
  double most = std::ldexp(2.0 - std::ldexp(1.0, -mantissaBits(dtypeOf<T>)),
                           1 - smallestExponent(dtypeOf<T>));
  std::vector<T> values;
  for (double x : {0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 127.5, 1000.0, tiny, least, most, HUGE_VAL})
    for (double sign : {1.0, -1.0})
      values.push_back(T(static_cast<Wide<T>>(sign * x)));
  values.push_back(T(std::numeric_limits<Wide<T>>::quiet_NaN()));
  return values;
}

/// Minima, maxima, their neighbours and small numbers of an integer.
template <class T> std::vector<T> integerEdges() {
  T lowest = std::numeric_limits<T>::min(), highest = std::numeric_limits<T>::max();
  std::vector<T> values = {0, 1, 2, 3, 7, 10, 100};
  for (T x : {lowest, T(lowest + 1), highest, T(highest - 1), T(highest / 2), T(highest / 2 + 1)})
    values.push_back(x);
  if constexpr (std::is_signed_v<T>)
    for (int x : {-1, -2, -3, -7, -100})
      values.push_back(static_cast<T>(x));
  return values;
}

template <class T> std::vector<T> edges() {
  if constexpr (isFloat(dtypeOf<T>))
    return floatEdges<T>();
  else
    return integerEdges<T>();
}

/// All pairs of elements of a list, as two lists.
template <class T> std::pair<std::vector<T>, std::vector<T>> pairsOf(const std::vector<T> &list) {
  std::pair<std::vector<T>, std::vector<T>> pairs;
  for (T x : list)
    for (T y : list)
      pairs.first.push_back(x), pairs.second.push_back(y);
  return pairs;
}

/// All bit patterns of a float of 8 or 16 bits.
template <class T> std::vector<T> allPatterns() {
  std::vector<T> values(size_t(1) << (8 * sizeof(T)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i].bits = static_cast<decltype(T::bits)>(i);
  return values;
}

template <class T> void append(std::vector<T> &list, const std::vector<T> &more) {
  list.insert(list.end(), more.begin(), more.end());
}

} // namespace tile::test
