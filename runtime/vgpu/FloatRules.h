// Scalar rules of PTX floating point: flushing, canonical NaNs, saturation, minimum and maximum.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tile::vgpu {

inline constexpr float kCanonicalNan = std::bit_cast<float>(0x7fffffffu);

inline bool isNan(float value) {
  return (std::bit_cast<uint32_t>(value) & 0x7fffffffu) > 0x7f800000u;
}
inline bool isNan(double value) { return value != value; }

/// `.ftz`: a subnormal becomes zero of its sign.
template <bool Flush> inline float flush(float value) {
  if constexpr (!Flush)
    return value;
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
template <bool Flush> inline double flush(double value) { return value; }

/// f32 results that are NaN have one bit pattern; f64 keeps its payload.
inline float canonical(float value) { return isNan(value) ? kCanonicalNan : value; }
inline double canonical(double value) { return value; }

/// `.sat`: clamped to [0, 1]; NaN becomes 0.
template <class T> inline T saturate(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

/// Of two operands and the one chosen as if both were numbers: a NaN loses to a number, or wins with `.NaN`. Without
/// branches, as is all that loops over lanes are to be vectorised for.
template <bool PropagateNan, class T> inline T unlessNan(T a, T b, T chosen) {
  T number = isNan(a) ? b : isNan(b) ? a : chosen;
  bool propagates = PropagateNan ? isNan(a) || isNan(b) : isNan(a) && isNan(b);
  return propagates ? canonical(static_cast<T>(NAN)) : number;
}
/// min and max: -0 is less than +0. Equal numbers differ in the sign alone.
template <bool PropagateNan, class T> inline T minimum(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  T either = std::bit_cast<T>(std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b));
  return unlessNan<PropagateNan>(a, b, a == b ? either : a < b ? a : b);
}
template <bool PropagateNan, class T> inline T maximum(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  T both = std::bit_cast<T>(std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b));
  return unlessNan<PropagateNan>(a, b, a == b ? both : a > b ? a : b);
}

/// `.xorsign.abs`: min or max of the magnitudes, with the product's sign.
template <bool Maximum, bool PropagateNan, class T> inline T extremeXorSign(T a, T b) {
  T size = Maximum ? maximum<PropagateNan>(std::fabs(a), std::fabs(b))
                   : minimum<PropagateNan>(std::fabs(a), std::fabs(b));
  return isNan(size) || std::signbit(a) == std::signbit(b) ? size : -size;
}

} // namespace tile::vgpu
