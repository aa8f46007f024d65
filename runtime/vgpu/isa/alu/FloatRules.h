// Scalar rules of PTX floating point: flushing, NaNs, saturation, minimum and maximum.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tile::vgpu {

inline constexpr float kCanonicalNan = std::bit_cast<float>(0x7fffffffu);

inline bool isNan(float value) { return value != value; }
inline bool isNan(double value) { return value != value; }

/// Zero of the value's sign where `isZero`. By masks: vectors choose between two values more slowly.
inline float zeroIf(bool isZero, float value) {
  uint32_t size = 0x7fffffffu & -uint32_t{isZero};
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) & ~size);
}

/// `.ftz`: a subnormal becomes zero of its sign.
template <bool Flush> inline float flush(float value) {
  if constexpr (!Flush)
    return value;
  return zeroIf((std::bit_cast<uint32_t>(value) & 0x7f800000u) == 0, value);
}
template <bool Flush> inline double flush(double value) { return value; }

// `.ftz` of results: hardware rounds as if exponents had no end, and flushes what then lies below the least normal number. A
// result that would be rounded up to that number only because subnormals lie further apart is zero as well. Operands have
// been flushed; the functions are computed in the rounding of the operation.

/// Numbers near the least normal one are scaled to where rounding takes no notice of it; others may overflow.
inline constexpr float kTinyScale = 0x1p24f, kTinyBound = kTinyScale * 0x1p-126f;

inline bool isTinyProduct(float a, float b) { return std::fabs(a * kTinyScale * b) < kTinyBound; }
inline bool isTinyFma(float a, float b, float c) {
  return std::fabs(std::fma(a * kTinyScale, b, c * kTinyScale)) < kTinyBound;
}
/// The greatest quotient of two numbers below a power of two is the power's predecessor, so none is rounded up to it.
inline bool isTinyQuotient(float a, float b) {
  return std::fabs(a) * 0x1p63f < std::fabs(b) * 0x1p-63f;
}

/// F of flushed operands, flushed by F::isTiny if it has that.
template <class F, bool Flush, class... T> inline auto flushedResult(T... operands) {
  auto result = F::apply(operands...);
  if constexpr (Flush && requires { F::isTiny(operands...); })
    return zeroIf(F::isTiny(operands...), result);
  else
    return flush<Flush>(result);
}

/// f32 results that are NaN have one bit pattern; f64 keeps its payload.
inline float canonical(float value) { return isNan(value) ? kCanonicalNan : value; }
inline double canonical(double value) { return value; }

/// A NaN that signals no more; its sign and the rest of its payload stay.
inline double quieted(double nan) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(nan) | uint64_t{1} << 51);
}

/// The result of an operation some of whose operands may be NaN: in f64 the operand that `first` names comes through, quieted,
/// then `second`; which of the rest, the host decides. In f32 all are one.
template <class... T> inline float passNan(float result, T...) { return canonical(result); }
inline double passNan(double result, double first) {
  return isNan(first) ? quieted(first) : result;
}
inline double passNan(double result, double first, double second) {
  return passNan(passNan(result, second), first);
}

/// The f64 sum that global memory makes: a NaN is the operand's, else the memory's, as it is.
inline double sumInMemory(double old, double value) {
  return isNan(value) ? value : isNan(old) ? old : old + value;
}

/// `.sat`: clamped to [0, 1]; NaN becomes 0.
template <class T> inline T saturate(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

/// `.relu`: numbers that are not positive become +0, also -0; NaN stays.
template <class T> inline T relu(T value) { return value <= T{0} ? T{0} : value; }

/// The minimum or maximum of two operands, given the one chosen as if both were numbers: a NaN loses to a number, or wins with
/// `.NaN`, and two NaNs give the second. It has no branches, so that loops over lanes are vectorised.
template <bool PropagateNan, class T> inline T unlessNan(T a, T b, T chosen) {
  T number = isNan(a) ? b : isNan(b) ? a : chosen;
  bool propagates = PropagateNan ? isNan(a) || isNan(b) : isNan(a) && isNan(b);
  return propagates ? passNan(static_cast<T>(NAN), b) : number;
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
