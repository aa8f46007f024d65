// f32 and f64 arithmetic, and the approximate functions.
//
// Rounding to nearest is the host's. Directed roundings are in RoundedFloat.cpp, half types in Half.cpp, what approximate
// functions compute in Approximations.h.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/isa/alu/Approximations.h"
#include "runtime/vgpu/isa/alu/FloatForms.h"
#include "runtime/vgpu/isa/alu/FloatRules.h"
#include "runtime/vgpu/isa/alu/Noise.h"
#include "runtime/vgpu/isa/alu/RoundedFloat.h"

namespace tile::vgpu {
namespace {

template <class T> struct Add {
  static T apply(T a, T b) { return passNan(a + b, b); }
};
template <class T> struct Sub {
  static T apply(T a, T b) { return passNan(a - b, b); }
};
template <class T> struct Mul {
  static T apply(T a, T b) { return passNan(a * b, b); }
  static bool isTiny(float a, float b) { return isTinyProduct(a, b); }
};
template <class T> struct Div {
  static T apply(T a, T b) { return passNan(a / b, a); }
  static bool isTiny(float a, float b) { return isTinyQuotient(a, b); }
};
template <class T> struct Fma {
  static T apply(T a, T b, T c) { return passNan(std::fma(a, b, c), b, c); }
  static bool isTiny(float a, float b, float c) { return isTinyFma(a, b, c); }
};
template <class T> struct Min {
  static T apply(T a, T b) { return minimum<false>(a, b); }
};
template <class T> struct Max {
  static T apply(T a, T b) { return maximum<false>(a, b); }
};
template <class T> struct MinNan {
  static T apply(T a, T b) { return minimum<true>(a, b); }
};
template <class T> struct MaxNan {
  static T apply(T a, T b) { return maximum<true>(a, b); }
};
template <bool Maximum, bool PropagateNan> struct XorSign {
  static float apply(float a, float b) { return extremeXorSign<Maximum, PropagateNan>(a, b); }
};
template <class T> struct CopySign { // copysign d, a, b: the sign of a on the magnitude of b
  static T apply(T a, T b) { return std::copysign(b, a); }
};
template <class T> struct Sqrt {
  static T apply(T a) { return canonical(std::sqrt(a)); }
};
template <class T> struct Rcp {
  static T apply(T a) { return canonical(T{1} / a); }
};
// Wraps an operation with flushing of operands and result, and saturation.
template <class F, bool Flush, bool Saturate> struct Shaped {
  template <class... T> auto operator()(T... values) const {
    auto result = flushedResult<F, Flush>(flush<Flush>(values)...);
    if constexpr (Saturate)
      return saturate(result);
    else
      return result;
  }
};

template <class F, class T, size_t N, bool Flush, bool Saturate> constexpr Handler shapedOp() {
  if constexpr (N == 1)
    return laneOp<Shaped<F, Flush, Saturate>, T, T>;
  else if constexpr (N == 2)
    return laneOp<Shaped<F, Flush, Saturate>, T, T, T>;
  else
    return laneOp<Shaped<F, Flush, Saturate>, T, T, T, T>;
}

template <class F, size_t N> Handler pickSingle(const FloatForm &form) {
  if (form.flush)
    return form.saturate ? shapedOp<F, float, N, true, true>()
                         : shapedOp<F, float, N, true, false>();
  return form.saturate ? shapedOp<F, float, N, false, true>()
                       : shapedOp<F, float, N, false, false>();
}

template <template <class> class F, size_t N> Handler pick(ScalarType type, const FloatForm &form) {
  if (type == ScalarType::F64)
    return form.flush || form.saturate ? nullptr : shapedOp<F<double>, double, N, false, false>();
  return pickSingle<F<float>, N>(form);
}

FloatForm takeForm(Suffixes &suffixes) {
  FloatForm form;
  form.flush = suffixes.take("ftz");
  form.saturate = suffixes.take("sat");
  form.relu = suffixes.take("relu");
  form.propagateNan = suffixes.take("NaN");
  form.xorSign = suffixes.take("xorsign");
  if (form.xorSign)
    form.absolute = suffixes.take("abs");
  return form;
}

bool isHalf(ScalarType type) {
  return type == ScalarType::F16 || type == ScalarType::F16x2 || type == ScalarType::BF16 ||
         type == ScalarType::BF16x2;
}

bool isBfloat(ScalarType type) { return type == ScalarType::BF16 || type == ScalarType::BF16x2; }

// Suffixes that a type has at all: bf16 and f64 neither flush nor saturate.
bool suitsType(ScalarType type, const FloatForm &form) {
  return !(form.flush || form.saturate) || !(isBfloat(type) || type == ScalarType::F64);
}
bool onlyFlushes(const FloatForm &form) {
  return !form.saturate && !form.relu && !form.propagateNan && !form.xorSign;
}
bool suitsArithmetic(ScalarType type, const FloatForm &form) {
  return suitsType(type, form) && !form.relu && !form.propagateNan && !form.xorSign;
}
bool suitsExtreme(ScalarType type, const FloatForm &form, std::string_view rounding) {
  return suitsType(type, form) && !form.saturate && !form.relu && rounding.empty() &&
         form.xorSign == form.absolute &&
         !(type == ScalarType::F64 && (form.propagateNan || form.xorSign));
}

template <bool Maximum> Handler nearestExtreme(ScalarType type, const FloatForm &form) {
  if (form.xorSign)
    return form.propagateNan ? pickSingle<XorSign<Maximum, true>, 2>(form)
                             : pickSingle<XorSign<Maximum, false>, 2>(form);
  if constexpr (Maximum)
    return form.propagateNan ? pick<MaxNan, 2>(type, form) : pick<Max, 2>(type, form);
  else
    return form.propagateNan ? pick<MinNan, 2>(type, form) : pick<Min, 2>(type, form);
}

Handler nearestBinary(FloatOperation operation, ScalarType type, const FloatForm &form) {
  switch (operation) {
  case FloatOperation::Add:
    return pick<Add, 2>(type, form);
  case FloatOperation::Sub:
    return pick<Sub, 2>(type, form);
  case FloatOperation::Mul:
    return pick<Mul, 2>(type, form);
  case FloatOperation::Min:
    return nearestExtreme<false>(type, form);
  default:
    return nearestExtreme<true>(type, form);
  }
}

// The approximate functions of f32.
Handler approximateSingle(FloatOperation operation, const FloatForm &form) {
  switch (operation) {
  case FloatOperation::Ex2:
    return pickSingle<approximate::Ex2, 1>(form);
  case FloatOperation::Lg2:
    return pickSingle<approximate::Lg2, 1>(form);
  case FloatOperation::Sin:
    return pickSingle<approximate::Sin, 1>(form);
  case FloatOperation::Cos:
    return pickSingle<approximate::Cos, 1>(form);
  case FloatOperation::Tanh:
    return pickSingle<approximate::Tanh, 1>(form);
  default:
    return pickSingle<approximate::Rsqrt, 1>(form);
  }
}

template <FloatOperation Operation, Approximate Function>
void decodeApproximate(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  FloatForm form = takeForm(suffixes);
  if (!suffixes.take("approx"))
    decoder.unsupported("expected .approx");
  Handlers handler = nullptr;
  if (!onlyFlushes(form))
    decoder.unsupported("of the suffixes that change results there is only .ftz");
  if (isHalf(type))
    // ex2 flushes bf16 always and f16 never; tanh neither.
    handler = form.flush == (isBfloat(type) && Operation == FloatOperation::Ex2)
                  ? halfUnary(Operation, type, form)
                  : nullptr;
  else if (type == ScalarType::F64 && Operation == FloatOperation::Rsqrt)
    handler = form.flush ? shapedOp<approximate::RoughRsqrt, double, 1, false, false>()
                         : shapedOp<approximate::RsqrtDouble, double, 1, false, false>();
  else if (type == ScalarType::F32)
    handler = approximateSingle(Operation, form);
  emitApproximate(decoder, instruction, Function, handler, type, 2);
}

// sqrt and rcp: approximate or rounded.
template <template <class> class F, FloatOperation Operation, Approximate Function>
void decodeRoot(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  FloatForm form = takeForm(suffixes);
  std::string_view rounding = suffixes.takeOneOf({"approx", "rn", "rz", "rm", "rp"});
  if (type != ScalarType::F32 && type != ScalarType::F64)
    decoder.unsupported("expected .f32 or .f64");
  if (rounding.empty())
    decoder.unsupported("expected .approx or a rounding mode");
  if (!onlyFlushes(form))
    decoder.unsupported("of the suffixes that change results there is only .ftz");
  bool nearest = rounding == "approx" || rounding == "rn";
  bool roughDouble = type == ScalarType::F64 && rounding == "approx";
  if (type == ScalarType::F64 && form.flush != roughDouble)
    decoder.unsupported("f64 has .approx.ftz and .rn, .rz, .rm, .rp");
  if (roughDouble && Operation != FloatOperation::Rcp)
    decoder.unsupported("sqrt.approx is of .f32");
  Handler handler = roughDouble ? shapedOp<approximate::RoughRcp, double, 1, false, false>()
                    : nearest   ? pick<F, 1>(type, form)
                                : roundedHandler(Operation, rounding, type == ScalarType::F64,
                                                 form.flush, form.saturate);
  if (rounding == "approx")
    return emitApproximate(decoder, instruction, Function, handler, type, 2);
  emitSimple(decoder, instruction, handler, type, 2);
}

void decodeCopySign(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  bool known = type == ScalarType::F32 || type == ScalarType::F64;
  emitSimple(decoder, instruction, known ? pick<CopySign, 2>(type, {}) : nullptr, type, 3);
}

void decodeFmaOpcode(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  decodeFma(decoder, instruction, suffixes, suffixes.takeType());
}

// Signs are those of numbers: of a NaN, f32 gives the one it has, and f64 the operand, quieted.
struct AbsOf {
  static float apply(float a) { return canonical(std::fabs(a)); }
  static double apply(double a) { return passNan(std::fabs(a), a); }
};
struct NegOf {
  static float apply(float a) { return canonical(-a); }
  static double apply(double a) { return passNan(-a, a); }
};

// testp: a property of a float.
template <class T, int Class> void testProperty(Warp &warp, const Op &op) {
  uint32_t result = 0;
  forLanes(warp.mask, [&](unsigned lane) {
    T value = fromLane<T>(warp.row<LaneOf<T>>(op.rows[1])[lane]);
    bool is = Class == 0   ? std::isfinite(value)
              : Class == 1 ? std::isinf(value)
              : Class == 2 ? !isNan(value)
              : Class == 3 ? isNan(value)
              : Class == 4 ? std::isnormal(value) || value == 0
                           : std::fpclassify(value) == FP_SUBNORMAL;
    result |= uint32_t{is} << lane;
  });
  mergeMask(warp.predicate(op.rows[0]), result, warp.mask);
}

void decodeTestp(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  static constexpr std::pair<std::string_view, std::pair<Handler, Handler>> tests[] = {
      {"finite", {testProperty<float, 0>, testProperty<double, 0>}},
      {"infinite", {testProperty<float, 1>, testProperty<double, 1>}},
      {"number", {testProperty<float, 2>, testProperty<double, 2>}},
      {"notanumber", {testProperty<float, 3>, testProperty<double, 3>}},
      {"normal", {testProperty<float, 4>, testProperty<double, 4>}},
      {"subnormal", {testProperty<float, 5>, testProperty<double, 5>}}};
  ScalarType type = suffixes.takeType();
  decoder.wantOperands(instruction, 2);
  for (auto [name, handlers] : tests)
    if (suffixes.take(name)) {
      uint32_t source = decoder.source(instruction.operands[1], type);
      decoder.emit(type == ScalarType::F64 ? handlers.second : handlers.first,
                   {decoder.target(instruction.operands[0], ScalarType::Pred)}, {source});
      return;
    }
  decoder.unsupported("unknown property");
}

const OpcodeInfo kOpcodes[] = {
    {.name = "ex2",
     .decode = decodeApproximate<FloatOperation::Ex2, Approximate::Ex2>,
     .time = makesFloats<Cost::Function>,
     .kind = always<InstructionClass::Float>,
     .requirements = {{"f16", 75, 70}, {"f16x2", 75, 70}, {"bf16", 90, 78}, {"bf16x2", 90, 78}}},
    {.name = "lg2",
     .decode = decodeApproximate<FloatOperation::Lg2, Approximate::Lg2>,
     .time = makesFloats<Cost::Logarithm>,
     .kind = always<InstructionClass::Float>},
    {.name = "sin",
     .decode = decodeApproximate<FloatOperation::Sin, Approximate::Sin>,
     .time = makesFloats<Cost::Function>,
     .kind = always<InstructionClass::Float>},
    {.name = "cos",
     .decode = decodeApproximate<FloatOperation::Cos, Approximate::Cos>,
     .time = makesFloats<Cost::Function>,
     .kind = always<InstructionClass::Float>},
    {.name = "tanh",
     .decode = decodeApproximate<FloatOperation::Tanh, Approximate::Tanh>,
     .time = makesFloats<Cost::Function>,
     .kind = always<InstructionClass::Float>,
     .forms = {{.never = "ftz"}},
     .requirements = {{"", 75, 70}, {"bf16", 90, 78}, {"bf16x2", 90, 78}}},
    {.name = "rsqrt",
     .decode = decodeApproximate<FloatOperation::Rsqrt, Approximate::Rsqrt>,
     .time = makesFloats<Cost::Function>,
     .kind = always<InstructionClass::Float>},
    {.name = "sqrt",
     .decode = decodeRoot<Sqrt, FloatOperation::Sqrt, Approximate::Sqrt>,
     .time = timeOfRoot,
     .kind = always<InstructionClass::Float>},
    {.name = "rcp",
     .decode = decodeRoot<Rcp, FloatOperation::Rcp, Approximate::Rcp>,
     .time = timeOfRoot,
     .kind = always<InstructionClass::Float>},
    {.name = "copysign",
     .decode = decodeCopySign,
     .time = makesFloats<Cost::Alu>,
     .kind = always<InstructionClass::Float>},
    {.name = "fma",
     .decode = decodeFmaOpcode,
     .time = timeOfArithmetic,
     .kind = always<InstructionClass::Float>,
     .requirements = {{"f16", 53, 42},
                      {"f16x2", 53, 42},
                      {"relu", 80, 70},
                      {"bf16", 80, 70},
                      {"bf16x2", 80, 70},
                      {"oob", 90, 81}}},
    {.name = "testp",
     .decode = decodeTestp,
     .time = makesFloats<Cost::Compare>,
     .kind = always<InstructionClass::Compare>,
     .forms = {{.needs = "f32 f64"}}},
};

} // namespace

void decodeFloatBinary(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                       ScalarType type, FloatOperation operation) {
  FloatForm form = takeForm(suffixes);
  std::string_view rounding = suffixes.takeOneOf({"rn", "rz", "rm", "rp"});
  Handlers handler = nullptr;
  bool isExtreme = operation == FloatOperation::Min || operation == FloatOperation::Max;
  if (isExtreme ? !suitsExtreme(type, form, rounding) : !suitsArithmetic(type, form))
    decoder.unsupported("these suffixes do not go with the operation and type");
  if (isHalf(type) && (rounding.empty() || rounding == "rn"))
    handler = halfBinary(operation, type, form);
  else if (type == ScalarType::F32 || type == ScalarType::F64)
    handler = rounding.empty() || rounding == "rn"
                  ? nearestBinary(operation, type, form)
                  : roundedHandler(operation, rounding, type == ScalarType::F64, form.flush,
                                   form.saturate);
  emitSimple(decoder, instruction, handler, type, 3);
}

void decodeFloatDivision(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                         ScalarType type) {
  FloatForm form = takeForm(suffixes);
  std::string_view rounding = suffixes.takeOneOf({"approx", "full", "rn", "rz", "rm", "rp"});
  Handler handler = nullptr;
  if (!suitsArithmetic(type, form) || form.saturate)
    decoder.unsupported("these suffixes do not go with div and the type");
  if (rounding == "approx" && type == ScalarType::F32)
    handler = pickSingle<approximate::Div, 2>(form);
  else if (rounding == "rn" || (rounding == "full" && type == ScalarType::F32))
    handler =
        type == ScalarType::F32 || type == ScalarType::F64 ? pick<Div, 2>(type, form) : nullptr;
  else if (!rounding.empty())
    handler = roundedHandler(FloatOperation::Div, rounding, type == ScalarType::F64, form.flush,
                             form.saturate);
  if (rounding == "approx" || rounding == "full")
    return emitApproximate(decoder, instruction, Approximate::Div, handler, type, 3);
  emitSimple(decoder, instruction, handler, type, 3);
}

void decodeFloatSign(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                     ScalarType type, FloatOperation operation) {
  FloatForm form = takeForm(suffixes);
  bool isAbs = operation == FloatOperation::Abs;
  if (!onlyFlushes(form) || !suitsType(type, form))
    decoder.unsupported("these suffixes do not go with the operation and type");
  Handlers handler = nullptr;
  if (isHalf(type))
    handler = halfUnary(operation, type, form);
  else if (type == ScalarType::F64 && !form.flush)
    handler = isAbs ? shapedOp<AbsOf, double, 1, false, false>()
                    : shapedOp<NegOf, double, 1, false, false>();
  else if (type == ScalarType::F32)
    handler = isAbs ? pickSingle<AbsOf, 1>(form) : pickSingle<NegOf, 1>(form);
  emitSimple(decoder, instruction, handler, type, 2);
}

void decodeFma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
               ScalarType type) {
  FloatForm form = takeForm(suffixes);
  std::string_view rounding = suffixes.takeOneOf({"rn", "rz", "rm", "rp"});
  Handlers handler = nullptr;
  bool relu = isHalf(type) && form.relu && !form.saturate;
  if (!suitsType(type, form) || (form.relu && !relu) || form.propagateNan || form.xorSign)
    decoder.unsupported("these suffixes do not go with fma and the type");
  if (isHalf(type) && rounding == "rn")
    handler = halfFma(type, form);
  else if ((type == ScalarType::F32 || type == ScalarType::F64) && rounding == "rn")
    handler = pick<Fma, 3>(type, form);
  else if (type == ScalarType::F32 || type == ScalarType::F64)
    handler = rounding.empty() ? nullptr
                               : roundedHandler(FloatOperation::Fma, rounding,
                                                type == ScalarType::F64, form.flush, form.saturate);
  emitSimple(decoder, instruction, handler, type, 4);
}

OpcodeRows floatOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
