// f16, bf16 and their packed pairs.
//
// A sum or product of two halves, computed in f32 and rounded again, is rounded correctly: f32 has more than twice the
// digits. fma needs more: its exact value is rounded to odd first, which keeps what the last rounding has to know.
#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/isa/alu/Exp2.h"
#include "runtime/vgpu/isa/alu/FloatForms.h"
#include "runtime/vgpu/isa/alu/FloatRules.h"
#include "runtime/vgpu/isa/alu/HalfFormat.h"

namespace tile::vgpu {
namespace {

// The traits of a format: its conversions, with 0x7fff as the one NaN, and the bound below which numbers are rounded to less
// than the least normal one if exponents have no end.
struct HalfTraits {
  static float widen(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t narrow(float value) { return floatToHalf(value); }
  static uint16_t cut(float value) { return cutToHalf(value); }
  static constexpr uint16_t exponentMask = 0x7c00;
  static constexpr float tinyBound = 0x1p-14f - 0x1p-26f;
};
struct BfloatTraits {
  static float widen(uint16_t bits) { return bfloatToFloat(bits); }
  static uint16_t narrow(float value) { return floatToBfloat(value); }
  static uint16_t cut(float value) { return cutToBfloat(value); }
  static constexpr uint16_t exponentMask = 0x7f80;
  static constexpr float tinyBound = 0x1p-126f - 0x1p-135f;
};

template <class Traits, bool Flush> uint16_t flushHalf(uint16_t bits) {
  return Flush && (bits & Traits::exponentMask) == 0 ? bits & 0x8000 : bits;
}
// Rounds a result that is exact, or has been rounded to odd, so that rounding again does no harm.
template <class Traits, bool Flush> uint16_t narrowFlushed(float value) {
  return Traits::narrow(Flush && std::fabs(value) < Traits::tinyBound ? std::copysign(0.0f, value)
                                                                      : value);
}

// A nearest value whose exact one is `error` away becomes the odd one of its two neighbours, also where it has become
// zero. NaN is no error.
template <class T, class Bits> T toOdd(T nearest, T error) {
  auto bits = std::bit_cast<Bits>(nearest);
  bool isInexact = error > 0 || error < 0, away = (error > 0) == !std::signbit(nearest);
  Bits step = isInexact && !(bits & 1) ? (away ? 1 : static_cast<Bits>(-1)) : 0;
  return std::bit_cast<T>(bits + step);
}

// a*b + c rounded to odd: the product is exact in double, the sum's error says which way its exact value lies.
float fmaToOdd(double a, double b, double c) {
  double product = a * b, sum = product + c, part = sum - product,
         odd = toOdd<double, uint64_t>(sum, (product - (sum - part)) + (c - part));
  auto nearest = static_cast<float>(odd);
  double error = odd - static_cast<double>(nearest);
  return toOdd<float, uint32_t>(nearest, error > 0 ? 1.0f : error < 0 ? -1.0f : 0.0f);
}

struct Add {
  static float apply(float a, float b) { return a + b; }
};
struct Sub {
  static float apply(float a, float b) { return a - b; }
};
struct Mul {
  static float apply(float a, float b) { return a * b; }
};
struct Min {
  static float apply(float a, float b) { return minimum<false>(a, b); }
};
struct Max {
  static float apply(float a, float b) { return maximum<false>(a, b); }
};
struct MinNan {
  static float apply(float a, float b) { return minimum<true>(a, b); }
};
struct MaxNan {
  static float apply(float a, float b) { return maximum<true>(a, b); }
};
template <bool Maximum, bool PropagateNan> struct XorSign {
  static float apply(float a, float b) { return extremeXorSign<Maximum, PropagateNan>(a, b); }
};
struct Tanh {
  static float apply(float a) { return static_cast<float>(std::tanh(static_cast<double>(a))); }
};

template <class Traits, class F, bool Flush, bool Saturate> struct Binary {
  static uint16_t one(uint16_t a, uint16_t b) {
    float result = F::apply(Traits::widen(flushHalf<Traits, Flush>(a)),
                            Traits::widen(flushHalf<Traits, Flush>(b)));
    return narrowFlushed<Traits, Flush>(Saturate ? saturate(result) : result);
  }
  F16 operator()(F16 a, F16 b) const { return {one(a.bits, b.bits)}; }
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return one(static_cast<uint16_t>(a), static_cast<uint16_t>(b)) |
           uint32_t{one(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))} << 16;
  }
};

template <class Traits, bool Flush, bool Saturate, bool Relu> struct FusedMultiplyAdd {
  static uint16_t one(uint16_t a, uint16_t b, uint16_t c) {
    float result = fmaToOdd(Traits::widen(flushHalf<Traits, Flush>(a)),
                            Traits::widen(flushHalf<Traits, Flush>(b)),
                            Traits::widen(flushHalf<Traits, Flush>(c)));
    if (Saturate)
      result = saturate(result);
    if (Relu)
      result = relu(result);
    return narrowFlushed<Traits, Flush>(result);
  }
  F16 operator()(F16 a, F16 b, F16 c) const { return {one(a.bits, b.bits, c.bits)}; }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return one(static_cast<uint16_t>(a), static_cast<uint16_t>(b), static_cast<uint16_t>(c)) |
           uint32_t{one(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16),
                        static_cast<uint16_t>(c >> 16))}
               << 16;
  }
};

template <class Traits, class F, bool Flush> struct Unary {
  static uint16_t one(uint16_t a) {
    return flushHalf<Traits, Flush>(
        Traits::narrow(F::apply(Traits::widen(flushHalf<Traits, Flush>(a)))));
  }
  F16 operator()(F16 a) const { return {one(a.bits)}; }
  uint32_t operator()(uint32_t a) const {
    return one(static_cast<uint16_t>(a)) | uint32_t{one(static_cast<uint16_t>(a >> 16))} << 16;
  }
};

// 2^x cut off, not rounded; overflow is infinite. What is below 2^-23 counts as zero.
template <class Traits, bool Flush> struct Ex2 {
  static uint16_t one(uint16_t a) {
    float x = Traits::widen(flushHalf<Traits, Flush>(a));
    x = std::fabs(x) < 0x1p-23f ? 0 : x;
    return flushHalf<Traits, Flush>(Traits::cut(static_cast<float>(exp2OfSingle(x))));
  }
  F16 operator()(F16 a) const { return {one(a.bits)}; }
  uint32_t operator()(uint32_t a) const {
    return one(static_cast<uint16_t>(a)) | uint32_t{one(static_cast<uint16_t>(a >> 16))} << 16;
  }
};

// Signs are those of numbers, not of NaN.
template <class Traits, bool Negate, bool Flush> struct SignBits {
  static uint16_t one(uint16_t a) {
    auto number = static_cast<uint16_t>(Negate ? a ^ 0x8000 : a & 0x7fff);
    return (a & 0x7fff) > Traits::exponentMask ? 0x7fff : flushHalf<Traits, Flush>(number);
  }
  F16 operator()(F16 a) const { return {one(a.bits)}; }
  uint32_t operator()(uint32_t a) const {
    return one(static_cast<uint16_t>(a)) | uint32_t{one(static_cast<uint16_t>(a >> 16))} << 16;
  }
};

// The shapes: one value or a packed pair.
template <class F> Handler binaryShape(bool packed) {
  return packed ? laneOp<F, uint32_t, uint32_t, uint32_t> : laneOp<F, F16, F16, F16>;
}
template <class F> Handler unaryShape(bool packed) {
  return packed ? laneOp<F, uint32_t, uint32_t> : laneOp<F, F16, F16>;
}
template <class F> Handler ternaryShape(bool packed) {
  return packed ? laneOp<F, uint32_t, uint32_t, uint32_t, uint32_t> : laneOp<F, F16, F16, F16, F16>;
}

template <class Traits, class F> Handler pickBinary(bool packed, const FloatForm &form) {
  if (form.flush)
    return form.saturate ? binaryShape<Binary<Traits, F, true, true>>(packed)
                         : binaryShape<Binary<Traits, F, true, false>>(packed);
  return form.saturate ? binaryShape<Binary<Traits, F, false, true>>(packed)
                       : binaryShape<Binary<Traits, F, false, false>>(packed);
}

template <class Traits, bool Maximum> Handler extremeFor(bool packed, const FloatForm &form) {
  if (form.xorSign)
    return form.propagateNan ? pickBinary<Traits, XorSign<Maximum, true>>(packed, form)
                             : pickBinary<Traits, XorSign<Maximum, false>>(packed, form);
  using Plain = std::conditional_t<Maximum, Max, Min>;
  using Propagating = std::conditional_t<Maximum, MaxNan, MinNan>;
  return form.propagateNan ? pickBinary<Traits, Propagating>(packed, form)
                           : pickBinary<Traits, Plain>(packed, form);
}

template <class Traits>
Handler binaryFor(FloatOperation operation, bool packed, const FloatForm &form) {
  switch (operation) {
  case FloatOperation::Add:
    return pickBinary<Traits, Add>(packed, form);
  case FloatOperation::Sub:
    return pickBinary<Traits, Sub>(packed, form);
  case FloatOperation::Mul:
    return pickBinary<Traits, Mul>(packed, form);
  case FloatOperation::Min:
    return extremeFor<Traits, false>(packed, form);
  case FloatOperation::Max:
    return extremeFor<Traits, true>(packed, form);
  default:
    return nullptr;
  }
}

template <class Traits>
Handler unaryFor(FloatOperation operation, bool packed, const FloatForm &form) {
  switch (operation) {
  case FloatOperation::Abs:
    return form.flush ? unaryShape<SignBits<Traits, false, true>>(packed)
                      : unaryShape<SignBits<Traits, false, false>>(packed);
  case FloatOperation::Neg:
    return form.flush ? unaryShape<SignBits<Traits, true, true>>(packed)
                      : unaryShape<SignBits<Traits, true, false>>(packed);
  case FloatOperation::Ex2:
    return form.flush ? unaryShape<Ex2<Traits, true>>(packed)
                      : unaryShape<Ex2<Traits, false>>(packed);
  case FloatOperation::Tanh:
    return unaryShape<Unary<Traits, Tanh, false>>(packed);
  default:
    return nullptr;
  }
}

template <class Traits> Handler fmaFor(bool packed, const FloatForm &form) {
  if (form.relu)
    return form.flush ? ternaryShape<FusedMultiplyAdd<Traits, true, false, true>>(packed)
                      : ternaryShape<FusedMultiplyAdd<Traits, false, false, true>>(packed);
  if (form.flush)
    return form.saturate ? ternaryShape<FusedMultiplyAdd<Traits, true, true, false>>(packed)
                         : ternaryShape<FusedMultiplyAdd<Traits, true, false, false>>(packed);
  return form.saturate ? ternaryShape<FusedMultiplyAdd<Traits, false, true, false>>(packed)
                       : ternaryShape<FusedMultiplyAdd<Traits, false, false, false>>(packed);
}

bool isPacked(ScalarType type) { return type == ScalarType::F16x2 || type == ScalarType::BF16x2; }
bool isBfloat(ScalarType type) { return type == ScalarType::BF16 || type == ScalarType::BF16x2; }

// The halves of a packed register have nothing to do with each other.
Handlers eachHalf(ScalarType type, Handler handler) {
  return {handler, isPacked(type) ? partShadow<16, 16> : nullptr};
}

} // namespace

Handlers halfBinary(FloatOperation operation, ScalarType type, const FloatForm &form) {
  return eachHalf(type, isBfloat(type) ? binaryFor<BfloatTraits>(operation, isPacked(type), form)
                                       : binaryFor<HalfTraits>(operation, isPacked(type), form));
}

Handlers halfUnary(FloatOperation operation, ScalarType type, const FloatForm &form) {
  return eachHalf(type, isBfloat(type) ? unaryFor<BfloatTraits>(operation, isPacked(type), form)
                                       : unaryFor<HalfTraits>(operation, isPacked(type), form));
}

Handlers halfFma(ScalarType type, const FloatForm &form) {
  return eachHalf(type, isBfloat(type) ? fmaFor<BfloatTraits>(isPacked(type), form)
                                       : fmaFor<HalfTraits>(isPacked(type), form));
}

} // namespace tile::vgpu
