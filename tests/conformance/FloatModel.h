// Small floating-point formats as lists of numbers: rounding is a search for neighbours, without arithmetic on bits.
#pragma once

#include <tile/Types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tile::test {

/// A format by its fields: sign, exponent with the usual bias, mantissa.
class FloatModel {
public:
  enum class Specials { Ieee, OnlyNan }; ///< OnlyNan: no infinities, NaN is all ones

  FloatModel(int exponentBits, int mantissaBits, Specials specials, bool saturates)
      : exponentBits_(exponentBits), mantissaBits_(mantissaBits), specials_(specials),
        saturates_(saturates) {
    for (uint32_t code = 0; std::isfinite(valueOf(code)); ++code)
      magnitudes_.push_back(valueOf(code));
  }

  double valueOf(uint32_t code) const {
    uint32_t signBit = 1u << (exponentBits_ + mantissaBits_), magnitude = code & (signBit - 1);
    uint32_t exponent = magnitude >> mantissaBits_, ones = (1u << exponentBits_) - 1;
    uint32_t mantissa = magnitude & ((1u << mantissaBits_) - 1);
    int bias = static_cast<int>(ones / 2);
    double value = 0;
    if (specials_ == Specials::Ieee && exponent == ones)
      value = mantissa ? NAN : INFINITY;
    else if (specials_ == Specials::OnlyNan && magnitude == signBit - 1)
      value = NAN;
    else if (exponent == 0)
      value = std::ldexp(mantissa, 1 - bias - mantissaBits_);
    else
      value =
          std::ldexp(1 + std::ldexp(mantissa, -mantissaBits_), static_cast<int>(exponent) - bias);
    return code & signBit ? -value : value;
  }

  /// The code of a number that is no NaN.
  uint32_t codeOf(double x, bool towardZero) const {
    uint32_t sign = std::signbit(x) ? 1u << (exponentBits_ + mantissaBits_) : 0;
    double size = std::fabs(x);
    auto largest = static_cast<uint32_t>(magnitudes_.size() - 1);
    auto above = std::upper_bound(magnitudes_.begin(), magnitudes_.end(), size);
    auto below = static_cast<uint32_t>(above - magnitudes_.begin() - 1);
    if (below < largest)
      return sign | (below + (!towardZero && goesUp(size, magnitudes_[below],
                                                    magnitudes_[below + 1], below % 2 != 0)));
    // The number that would follow the largest one decides what overflows to infinity.
    double next = 2 * magnitudes_[largest] - magnitudes_[largest - 1];
    bool overflows =
        std::isinf(size) || (!towardZero && goesUp(size, magnitudes_[largest], next, true));
    return sign | (overflows && !saturates_ ? largest + 1 : largest);
  }

private:
  static bool goesUp(double size, double below, double above, bool isOdd) {
    double down = size - below, up = above - size; // exact: neighbours and a number between them
    return down > up || (down == up && isOdd);
  }

  int exponentBits_, mantissaBits_;
  Specials specials_;
  bool saturates_;
  std::vector<double> magnitudes_; ///< by code
};

/// The formats that kernels know.
template <class T> const FloatModel &modelOf();
template <> inline const FloatModel &modelOf<half>() {
  static const FloatModel model(5, 10, FloatModel::Specials::Ieee, false);
  return model;
}
template <> inline const FloatModel &modelOf<bfloat16>() {
  static const FloatModel model(8, 7, FloatModel::Specials::Ieee, false);
  return model;
}
template <> inline const FloatModel &modelOf<float8_e5m2>() {
  static const FloatModel model(5, 2, FloatModel::Specials::Ieee, true);
  return model;
}
template <> inline const FloatModel &modelOf<float8_e4m3>() {
  static const FloatModel model(4, 3, FloatModel::Specials::OnlyNan, true);
  return model;
}

} // namespace tile::test
