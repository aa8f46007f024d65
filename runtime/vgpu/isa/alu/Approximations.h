// The approximate functions of f32 and f64. Hardware's results differ from rounded ones by a few units; a rule
// for these is known of sin and cos alone, so all others are computed in double and rounded once.
#pragma once

#include "runtime/vgpu/isa/alu/Exp2.h"
#include "runtime/vgpu/isa/alu/FloatRules.h"

#include <numbers>

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

/// sin and cos are of turns: the size of x * (1 / 2pi), a product of f32 rounded toward zero and cut to whole 2^-25, of which
/// only the fraction counts. NaN for infinities.
inline double fractionOfTurn(float x) {
  constexpr float kTurnsPerRadian = 0.15915494f;
  constexpr uint64_t kBeyondSingle = (1u << 29) - 1; // digits of double that f32 has not
  double exact = static_cast<double>(std::fabs(x)) * kTurnsPerRadian,
         turns = std::bit_cast<double>(std::bit_cast<uint64_t>(exact) & ~kBeyondSingle),
         steps = std::trunc(turns * 0x1p25);
  return (steps - std::trunc(turns) * 0x1p25) * 0x1p-25;
}
/// The argument is at most a quarter turn.
inline double sineOf(double turns) { return std::sin(2 * std::numbers::pi * turns); }

struct Sin {
  static float apply(float a) {
    double turn = fractionOfTurn(a), half = turn >= 0.5 ? turn - 0.5 : turn;
    double size = sineOf(half > 0.25 ? 0.5 - half : half);
    return rounded(std::signbit(a) != (turn >= 0.5) ? -size : size);
  }
};
struct Cos { // minus zero after a quarter turn
  static float apply(float a) {
    double turn = fractionOfTurn(a), size = sineOf(std::fabs((turn < 0.5 ? 0.25 : 0.75) - turn));
    return rounded(turn >= 0.25 && turn < 0.75 ? -size : size);
  }
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
