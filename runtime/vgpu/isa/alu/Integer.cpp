// Integer sums, quotients, minima and logic. Products are in Products.cpp, carries in Carry.cpp, shifts and bit fields in
// Bits.cpp.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/isa/alu/Carry.h"
#include "runtime/vgpu/isa/alu/FloatForms.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>
#include <limits>

namespace tile::vgpu {

void emitSimple(Decoder &decoder, const Instruction &instruction, Handlers handlers,
                ScalarType type, size_t operands) {
  if (!handlers)
    decoder.unsupported("this type");
  decoder.wantOperands(instruction, operands);
  std::vector<uint32_t> sources;
  for (size_t i = 1; i < operands; ++i)
    sources.push_back(decoder.source(instruction.operands[i], type));
  uint32_t target = decoder.target(instruction.operands[0], type);
  decoder.emitWide(handlers, std::array{target}, sources);
}

namespace {

template <class T> struct Add {
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
template <class T> struct Sub {
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
// Division by zero is unspecified in PTX; hardware gives all ones, as quotient and as remainder. The smallest number over -1
// wraps.
template <class T> struct Div {
  T operator()(T a, T b) const {
    if (b == 0)
      return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return Sub<T>{}(0, a);
    return static_cast<T>(a / b);
  }
};
template <class T> struct Rem {
  T operator()(T a, T b) const {
    if (b == 0)
      return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return 0;
    return static_cast<T>(a % b);
  }
};
template <class T> struct Min {
  T operator()(T a, T b) const { return a < b ? a : b; }
};
template <class T> struct Max {
  T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T> struct Abs {
  T operator()(T a) const { return a < 0 ? Sub<T>{}(0, a) : a; }
};
template <class T> struct Neg {
  T operator()(T a) const { return Sub<T>{}(0, a); }
};
template <class T> struct And {
  T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
template <class T> struct Or {
  T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
template <class T> struct Xor {
  T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};
template <class T> struct Not {
  T operator()(T a) const { return static_cast<T>(~a); }
};
template <class T> struct CNot {
  T operator()(T a) const { return a == 0; }
};
// `.relu`: negative results become zero.
template <template <class> class F> struct ReluOf {
  template <class T> struct Of {
    T operator()(T a, T b) const { return std::max(F<T>{}(a, b), T{0}); }
  };
};
template <template <class> class F> using Relu = typename ReluOf<F>::template Of<int32_t>;

// Does an operation on both halves of a register.
template <template <class> class F, class T> struct EachShort {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    auto one = [](uint32_t x, uint32_t y) {
      return uint32_t{static_cast<uint16_t>(F<T>{}(static_cast<T>(x), static_cast<T>(y)))};
    };
    return one(a, b) | one(a >> 16, b >> 16) << 16;
  }
};
template <template <class> class F> Handlers eachShort(ScalarType type) {
  return {type == ScalarType::S16x2 ? laneOp<EachShort<F, int16_t>, uint32_t, uint32_t, uint32_t>
                                    : laneOp<EachShort<F, uint16_t>, uint32_t, uint32_t, uint32_t>,
          partShadow<16, 16>};
}

struct AddSaturate {
  int32_t operator()(int32_t a, int32_t b) const {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX));
  }
};
struct SubSaturate {
  int32_t operator()(int32_t a, int32_t b) const {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} - b, INT32_MIN, INT32_MAX));
  }
};

template <class F> void predicateOp(Warp &warp, const Op &op) {
  mergeMask(warp.predicate(op.rows[0]), F{}(warp.predicate(op.rows[1]), warp.predicate(op.rows[2])),
            warp.mask);
}
void predicateNot(Warp &warp, const Op &op) {
  mergeMask(warp.predicate(op.rows[0]), ~warp.predicate(op.rows[1]), warp.mask);
}

// As BitShadow, of all lanes at once.
template <class F> void predicateShadow(Warp &warp, const Op &op) {
  uint32_t everywhere = kFullMask, anywhere = 0;
  auto filled = [&](uint32_t row, bool ones) {
    uint32_t undefined = ~warp.shadow.whole(row), value = warp.predicate(row);
    return ones ? value | undefined : value & ~undefined;
  };
  for (unsigned ones = 0; ones < 4; ++ones) {
    uint32_t result = F{}(filled(op.rows[1], ones & 1), filled(op.rows[2], ones & 2));
    everywhere &= result, anywhere |= result;
  }
  warp.shadow.set(op.rows[0], ~(everywhere ^ anywhere), warp.mask);
}

template <template <class> class F>
void decodeLogic(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (type == ScalarType::Pred) {
    decoder.wantOperands(instruction, 3);
    uint32_t a = decoder.predicate(instruction.operands[1]),
             b = decoder.predicate(instruction.operands[2]);
    decoder.emit({predicateOp<F<uint32_t>>, predicateShadow<F<uint32_t>>},
                 {decoder.target(instruction.operands[0], type)}, {a, b});
    return;
  }
  auto handlers = []<class T>() -> Handlers { return bitOp<F<T>, 2, T, T, T>(); };
  emitSimple(decoder, instruction, isWord(type) ? forInteger(type, handlers) : nullptr, type, 3);
}

void decodeNot(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (type == ScalarType::Pred) {
    decoder.wantOperands(instruction, 2);
    uint32_t source = decoder.predicate(instruction.operands[1]);
    decoder.emit(predicateNot, {decoder.target(instruction.operands[0], type)}, {source});
    return;
  }
  auto handlers = []<class T>() -> Handlers { return bitOp<Not<T>, 1, T, T>(); };
  emitSimple(decoder, instruction, isWord(type) ? forInteger(type, handlers) : nullptr, type, 2);
}

void decodeCNot(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  emitSimple(decoder, instruction, isWord(type) ? unaryInteger<CNot>(type) : nullptr, type, 2);
}

// Opcodes that integers and floats share: the type decides. `Saturated` is the form for s32 with .sat.
template <template <class> class F, class Saturated, FloatOperation Float>
void decodeSum(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type))
    decodeFloatBinary(decoder, instruction, suffixes, type, Float);
  else if (suffixes.take("cc"))
    decodeWithCarry(decoder, instruction, suffixes,
                    Float == FloatOperation::Add ? CarriedOperation::Sum
                                                 : CarriedOperation::Difference,
                    type, {.writes = true});
  else if (isPairOfShorts(type) && Float == FloatOperation::Add) // PTX has no sub of pairs
    emitSimple(decoder, instruction, eachShort<F>(type), type, 3);
  else if (type == ScalarType::S32 && suffixes.take("sat"))
    emitSimple(decoder, instruction, laneOp<Saturated, int32_t, int32_t, int32_t>, type, 3);
  else
    emitSimple(decoder, instruction, isWord(type) ? binaryInteger<F>(type) : nullptr, type, 3);
}

// Notes a zero in the divisor, rows[0]. Op::imm: the bits of it that count.
template <class Row> void noteZeroDivisor(Warp &warp, const Op &op) {
  const Row *divisor = warp.row<Row>(op.rows[0]);
  uint32_t zero = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    zero |= uint32_t{(divisor[lane] & static_cast<Row>(op.imm)) == 0} << lane;
  if (zero & warp.mask)
    warp.cta->launch->note(op, "a division by zero, whose result PTX leaves open");
}

template <template <class> class F>
void decodeDivision(Decoder &decoder, const Instruction &instruction, ScalarType type) {
  Handlers handlers = isWord(type) ? binaryInteger<F>(type) : nullptr;
  if (handlers && instruction.operands.size() == 3) {
    const Operand &divisor = instruction.operands[2];
    bool isKnown = divisor.kind == Operand::Kind::Immediate && divisor.value != 0;
    int64_t bits = bytesOf(type) == 2 ? 0xffff : -1;
    if (!isKnown)
      decoder.emit(bytesOf(type) == 8 ? noteZeroDivisor<uint64_t> : noteZeroDivisor<uint32_t>, {},
                   {decoder.source(divisor, type)}, bits, 0, 0, kOwnValidity);
  }
  emitSimple(decoder, instruction, handlers, type, 3);
}

void decodeDiv(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type))
    decodeFloatDivision(decoder, instruction, suffixes, type);
  else
    decodeDivision<Div>(decoder, instruction, type);
}

void decodeRem(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  decodeDivision<Rem>(decoder, instruction, suffixes.takeType());
}

template <template <class> class F, FloatOperation Float>
void decodeMinMax(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type)) {
    decodeFloatBinary(decoder, instruction, suffixes, type, Float);
    return;
  }
  bool relu = suffixes.take("relu");
  if (relu && type == ScalarType::S32)
    emitSimple(decoder, instruction, laneOp<Relu<F>, int32_t, int32_t, int32_t>, type, 3);
  else if (isPairOfShorts(type) && (!relu || isSigned(type)))
    emitSimple(decoder, instruction,
               relu ? eachShort<ReluOf<F>::template Of>(type) : eachShort<F>(type), type, 3);
  else
    emitSimple(decoder, instruction, isWord(type) && !relu ? binaryInteger<F>(type) : nullptr, type,
               3);
}

template <template <class> class F, FloatOperation Float>
void decodeSign(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type))
    decodeFloatSign(decoder, instruction, suffixes, type, Float);
  else
    emitSimple(decoder, instruction,
               isSigned(type) && isWord(type) ? unaryInteger<F>(type) : nullptr, type, 2);
}

const std::initializer_list<Requirement> kMinRequirements = {
    {"f16", 80, 70},     {"f16x2", 80, 70}, {"bf16", 80, 70},  {"bf16x2", 80, 70}, {"NaN", 80, 70},
    {"xorsign", 86, 72}, {"u16x2", 90, 80}, {"s16x2", 90, 80}, {"relu", 90, 80}};

const OpcodeInfo kOpcodes[] = {
    {.name = "add",
     .decode = decodeSum<Add, AddSaturate, FloatOperation::Add>,
     .time = timeOfArithmetic,
     .forms = {{.never = "b8 b16 b32 b64 u8 s8"}},
     .requirements = {{"f16", 53, 42},
                      {"f16x2", 53, 42},
                      {"bf16", 90, 78},
                      {"bf16x2", 90, 78},
                      {"u16x2", 90, 80},
                      {"s16x2", 90, 80}}},
    {.name = "sub",
     .decode = decodeSum<Sub, SubSaturate, FloatOperation::Sub>,
     .time = timeOfArithmetic,
     .forms = {{.never = "b8 b16 b32 b64 u8 s8"}},
     .requirements = {{"f16", 53, 42}, {"f16x2", 53, 42}, {"bf16", 90, 78}, {"bf16x2", 90, 78}}},
    {.name = "div",
     .decode = decodeDiv,
     .time = timeOfDivision,
     .forms = {{.never = "b8 b16 b32 b64 u8 s8"},
               {.where = "full approx", .needs = "f32"},
               {.never = "f16 f16x2 bf16 bf16x2"}}},
    {.name = "rem",
     .decode = decodeRem,
     .time = timeOfDivision,
     .forms = {{.never = "b8 b16 b32 b64 u8 s8"}}},
    {.name = "min",
     .decode = decodeMinMax<Min, FloatOperation::Min>,
     .time = timeOfExtreme,
     .forms = {{.never = "b8 b16 b32 b64 u8 s8"}},
     .requirements = kMinRequirements},
    {.name = "max",
     .decode = decodeMinMax<Max, FloatOperation::Max>,
     .time = timeOfExtreme,
     .forms = {{.never = "b8 b16 b32 b64 u8 s8"}},
     .requirements = kMinRequirements},
    {.name = "abs",
     .decode = decodeSign<Abs, FloatOperation::Abs>,
     .time = timeOfSign,
     .requirements = {{"f16", 53, 65}, {"f16x2", 53, 65}, {"bf16", 80, 70}, {"bf16x2", 80, 70}}},
    {.name = "neg",
     .decode = decodeSign<Neg, FloatOperation::Neg>,
     .time = timeOfSign,
     .requirements = {{"f16", 53, 60}, {"f16x2", 53, 60}, {"bf16", 80, 70}, {"bf16x2", 80, 70}}},
    {.name = "and",
     .decode = decodeLogic<And>,
     .time = timeOfLogic,
     .forms = {{.needs = "b16 b32 b64 pred"}}},
    {.name = "or",
     .decode = decodeLogic<Or>,
     .time = timeOfLogic,
     .forms = {{.needs = "b16 b32 b64 pred"}}},
    {.name = "xor",
     .decode = decodeLogic<Xor>,
     .time = timeOfLogic,
     .forms = {{.needs = "b16 b32 b64 pred"}}},
    {.name = "not",
     .decode = decodeNot,
     .time = timeOfLogic,
     .forms = {{.needs = "b16 b32 b64 pred"}}},
    {.name = "cnot",
     .decode = decodeCNot,
     .time = timeOfLogic,
     .forms = {{.needs = "b16 b32 b64"}}},
};

} // namespace

OpcodeRows integerOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
