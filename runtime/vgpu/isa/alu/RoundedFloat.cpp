// Directed rounding by the processor's own rounding mode. Compiled with -frounding-math, so that no operation moves
// across the change of mode.
#include "runtime/vgpu/isa/alu/RoundedFloat.h"

#include "runtime/vgpu/isa/alu/FloatRules.h"
#include "runtime/vgpu/machine/Lanes.h"

#include <cfenv>

namespace tile::vgpu {
namespace {

class RoundingScope {
public:
  explicit RoundingScope(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~RoundingScope() { std::fesetround(before_); }

private:
  int before_;
};

struct Add {
  template <class T> static T apply(T a, T b, T) { return passNan(a + b, b); }
};
struct Sub {
  template <class T> static T apply(T a, T b, T) { return passNan(a - b, b); }
};
struct Mul {
  template <class T> static T apply(T a, T b, T) { return passNan(a * b, b); }
  static bool isTiny(float a, float b, float) { return isTinyProduct(a, b); }
};
struct Fma {
  template <class T> static T apply(T a, T b, T c) { return passNan(std::fma(a, b, c), b, c); }
  static bool isTiny(float a, float b, float c) { return isTinyFma(a, b, c); }
};
struct Div {
  template <class T> static T apply(T a, T b, T) { return passNan(a / b, a); }
  static bool isTiny(float a, float b, float) { return isTinyQuotient(a, b); }
};
struct Sqrt {
  template <class T> static T apply(T a, T, T) { return std::sqrt(a); }
};
struct Rcp {
  template <class T> static T apply(T a, T, T) { return T{1} / a; }
};

template <class F, class T, int Mode, bool Flush, bool Saturate>
void rounded(Warp &warp, const Op &op) {
  RoundingScope scope(Mode);
  LaneOf<T> *target = warp.row<LaneOf<T>>(op.rows[0]);
  unsigned count = op.sources;
  forLanes(warp.mask, [&](unsigned lane) {
    T value[3] = {};
    for (unsigned i = 0; i < count; ++i)
      value[i] = flush<Flush>(fromLane<T>(warp.row<LaneOf<T>>(op.rows[1 + i])[lane]));
    T result = canonical(flushedResult<F, Flush>(value[0], value[1], value[2]));
    target[lane] = toLane<T>(Saturate ? saturate(result) : result);
  });
}

template <class F, class T, int Mode> Handler pickFlags(bool flushes, bool saturates) {
  if (flushes)
    return saturates ? rounded<F, T, Mode, true, true> : rounded<F, T, Mode, true, false>;
  return saturates ? rounded<F, T, Mode, false, true> : rounded<F, T, Mode, false, false>;
}

template <class F, class T>
Handler pickMode(std::string_view rounding, bool flushes, bool saturates) {
  if (rounding == "rz")
    return pickFlags<F, T, FE_TOWARDZERO>(flushes, saturates);
  if (rounding == "rm")
    return pickFlags<F, T, FE_DOWNWARD>(flushes, saturates);
  return pickFlags<F, T, FE_UPWARD>(flushes, saturates);
}

template <class F>
Handler pick(std::string_view rounding, bool isDouble, bool flushes, bool saturates) {
  return isDouble ? pickMode<F, double>(rounding, flushes, saturates)
                  : pickMode<F, float>(rounding, flushes, saturates);
}

} // namespace

Handler roundedHandler(FloatOperation operation, std::string_view rounding, bool isDouble,
                       bool flushes, bool saturates) {
  switch (operation) {
  case FloatOperation::Add:
    return pick<Add>(rounding, isDouble, flushes, saturates);
  case FloatOperation::Sub:
    return pick<Sub>(rounding, isDouble, flushes, saturates);
  case FloatOperation::Mul:
    return pick<Mul>(rounding, isDouble, flushes, saturates);
  case FloatOperation::Fma:
    return pick<Fma>(rounding, isDouble, flushes, saturates);
  case FloatOperation::Div:
    return pick<Div>(rounding, isDouble, flushes, saturates);
  case FloatOperation::Sqrt:
    return pick<Sqrt>(rounding, isDouble, flushes, saturates);
  case FloatOperation::Rcp:
    return pick<Rcp>(rounding, isDouble, flushes, saturates);
  default:
    return nullptr;
  }
}

} // namespace tile::vgpu
