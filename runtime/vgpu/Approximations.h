// What the approximate functions of f32 and f64 compute: in double, rounded once, which is inside every documented bound.
#pragma once

#include "runtime/vgpu/Exp2.h"
#include "runtime/vgpu/FloatRules.h"

namespace tile::vgpu::approximate {

inline float rounded(double value) { return canonical(static_cast<float>(value)); }

struct Rsqrt {
  static float apply(float a) { return rounded(1.0 / std::sqrt(static_cast<double>(a))); }
};
struct Ex2 {
  static float apply(float a) { return rounded(exp2OfSingle(a)); }
};
struct Lg2 {
  static float apply(float a) { return rounded(std::log2(static_cast<double>(a))); }
};
struct Tanh {
  static float apply(float a) { return rounded(std::tanh(static_cast<double>(a))); }
};

struct Sin {
  static float apply(float a) { return rounded(std::sin(static_cast<double>(a))); }
};
struct Cos {
  static float apply(float a) { return rounded(std::cos(static_cast<double>(a))); }
};

// A divisor beyond 2^126 gives zero, or NaN for an infinite dividend.
struct Div {
  static float apply(float a, float b) {
    float size = std::fabs(b);
    if (size > 0x1p126f && size < INFINITY)
      return std::isinf(a) || isNan(a) ? kCanonicalNan
                                       : std::copysign(0.0f, a * std::copysign(1.0f, b));
    return canonical(a / b);
  }
  static bool isTiny(float a, float b) { return isTinyQuotient(a, b); }
};

struct RsqrtDouble {
  static double apply(double a) { return 1.0 / std::sqrt(a); }
};
/// .approx.ftz of doubles looks at the upper 32 bits alone and gives no others.
inline double upperHalf(double a) {
  auto bits = std::bit_cast<uint64_t>(a) & 0xffffffff00000000u;
  bool subnormal = (bits & 0x7ff0000000000000u) == 0;
  return std::bit_cast<double>(subnormal ? bits & 0x8000000000000000u : bits);
}
/// It has one NaN.
inline double upperResult(double a) {
  return isNan(a) ? std::bit_cast<double>(0x7fffffff00000000u) : upperHalf(a);
}
struct RoughRcp {
  static double apply(double a) { return upperResult(1.0 / upperHalf(a)); }
};
struct RoughRsqrt {
  static double apply(double a) { return upperResult(1.0 / std::sqrt(upperHalf(a))); }
};

} // namespace tile::vgpu::approximate
