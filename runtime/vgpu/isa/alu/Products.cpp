// Integer products, alone and added to something: mul, mad, mul24, mad24, sad, dp4a, dp2a.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/isa/alu/Carry.h"
#include "runtime/vgpu/isa/alu/FloatForms.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

template <class T> struct WiderOf;
template <> struct WiderOf<uint16_t> { using Type = uint32_t; };
template <> struct WiderOf<int16_t> { using Type = int32_t; };
template <> struct WiderOf<uint32_t> { using Type = uint64_t; };
template <> struct WiderOf<int32_t> { using Type = int64_t; };
template <> struct WiderOf<uint64_t> { using Type = unsigned __int128; };
template <> struct WiderOf<int64_t> { using Type = __int128; };
template <class T> using Wider = typename WiderOf<T>::Type;

template <class T> T wrappedSum(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
int32_t saturatedSum(int32_t a, int32_t b) {
  return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX));
}

template <class T> struct MulLo {
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
template <class T> struct MulHi {
  T operator()(T a, T b) const {
    return static_cast<T>((Wider<T>(a) * Wider<T>(b)) >> (8 * sizeof(T)));
  }
};
template <class T> struct MulWide {
  Wider<T> operator()(T a, T b) const { return static_cast<Wider<T>>(Wider<T>(a) * Wider<T>(b)); }
};
template <class T> struct MadLo {
  T operator()(T a, T b, T c) const { return wrappedSum(MulLo<T>{}(a, b), c); }
};
template <class T> struct MadHi {
  T operator()(T a, T b, T c) const { return wrappedSum(MulHi<T>{}(a, b), c); }
};
struct MadHiSaturate {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturatedSum(MulHi<int32_t>{}(a, b), c);
  }
};
template <class T> struct MadWide {
  Wider<T> operator()(T a, T b, Wider<T> c) const { return wrappedSum(MulWide<T>{}(a, b), c); }
};

// The product of the low 24 bits, which has 48: .lo is its bits 31..0, .hi its bits 47..16.
template <class T, bool High> struct Mul24 {
  T operator()(T a, T b) const {
    constexpr int unused = 8;
    Wider<T> x = static_cast<T>(static_cast<uint32_t>(a) << unused) >> unused;
    Wider<T> y = static_cast<T>(static_cast<uint32_t>(b) << unused) >> unused;
    return static_cast<T>(x * y >> (High ? 16 : 0));
  }
};
template <class T, bool High> struct Mad24 {
  T operator()(T a, T b, T c) const { return wrappedSum(Mul24<T, High>{}(a, b), c); }
};
struct Mad24Saturate {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturatedSum(Mul24<int32_t, true>{}(a, b), c);
  }
};

template <class T> struct Sad {
  T operator()(T a, T b, T c) const {
    auto x = static_cast<Wrapping<T>>(a), y = static_cast<Wrapping<T>>(b);
    return wrappedSum(c, static_cast<T>(a < b ? y - x : x - y));
  }
};

// Sums of products of bytes with bytes, or with halves. Signed or not, the sum has the same bits.
template <class Part> uint32_t partOf(uint32_t word, unsigned index) {
  return static_cast<uint32_t>(
      static_cast<int32_t>(static_cast<Part>(word >> (8 * sizeof(Part) * index))));
}
template <class A, class B> struct Dp4a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (unsigned i = 0; i < 4; ++i)
      c += partOf<A>(a, i) * partOf<B>(b, i);
    return c;
  }
};
template <class A, class B, bool High> struct Dp2a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (unsigned i = 0; i < 2; ++i)
      c += partOf<A>(a, i) * partOf<B>(b, i + (High ? 2 : 0));
    return c;
  }
};

template <class F>
constexpr Handler kThreeWords = laneOp<F, uint32_t, uint32_t, uint32_t, uint32_t>;

template <template <class, class> class F, class A, class B>
Handler dotHandler(bool signedA, bool signedB) {
  using SignedA = std::make_signed_t<A>;
  using SignedB = std::make_signed_t<B>;
  if (signedA)
    return signedB ? kThreeWords<F<SignedA, SignedB>> : kThreeWords<F<SignedA, B>>;
  return signedB ? kThreeWords<F<A, SignedB>> : kThreeWords<F<A, B>>;
}
template <class A, class B> using Dp2aLow = Dp2a<A, B, false>;
template <class A, class B> using Dp2aHigh = Dp2a<A, B, true>;

// Whether the two types of a dot product are signed.
std::pair<bool, bool> takeSigns(Decoder &decoder, Suffixes &suffixes) {
  ScalarType a = suffixes.takeType(), b = suffixes.takeType();
  for (ScalarType type : {a, b})
    if (type != ScalarType::U32 && type != ScalarType::S32)
      decoder.unsupported("expected the types .u32 or .s32");
  return {isSigned(a), isSigned(b)};
}

void decodeDp4a(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  auto [signedA, signedB] = takeSigns(decoder, suffixes);
  emitSimple(decoder, instruction, dotHandler<Dp4a, uint8_t, uint8_t>(signedA, signedB),
             ScalarType::B32, 4);
}

void decodeDp2a(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool high = suffixes.take("hi");
  if (!high && !suffixes.take("lo"))
    decoder.unsupported("expected dp2a.lo or dp2a.hi");
  auto [signedA, signedB] = takeSigns(decoder, suffixes);
  emitSimple(decoder, instruction,
             high ? dotHandler<Dp2aHigh, uint16_t, uint8_t>(signedA, signedB)
                  : dotHandler<Dp2aLow, uint16_t, uint8_t>(signedA, signedB),
             ScalarType::B32, 4);
}

void decodeSad(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  Handler handler =
      isWord(type)
          ? forInteger(type, []<class T>() -> Handler { return laneOp<Sad<T>, T, T, T, T>; })
          : nullptr;
  emitSimple(decoder, instruction, handler, type, 4);
}

template <template <class> class F> Handler wideHandler(ScalarType type) {
  switch (type) {
  case ScalarType::U16:
    return laneOp<F<uint16_t>, uint32_t, uint16_t, uint16_t>;
  case ScalarType::S16:
    return laneOp<F<int16_t>, int32_t, int16_t, int16_t>;
  case ScalarType::U32:
    return laneOp<F<uint32_t>, uint64_t, uint32_t, uint32_t>;
  case ScalarType::S32:
    return laneOp<F<int32_t>, int64_t, int32_t, int32_t>;
  default:
    return nullptr;
  }
}

Handler madWideHandler(ScalarType type) {
  switch (type) {
  case ScalarType::U16:
    return laneOp<MadWide<uint16_t>, uint32_t, uint16_t, uint16_t, uint32_t>;
  case ScalarType::S16:
    return laneOp<MadWide<int16_t>, int32_t, int16_t, int16_t, int32_t>;
  case ScalarType::U32:
    return laneOp<MadWide<uint32_t>, uint64_t, uint32_t, uint32_t, uint64_t>;
  case ScalarType::S32:
    return laneOp<MadWide<int32_t>, int64_t, int32_t, int32_t, int64_t>;
  default:
    return nullptr;
  }
}

ScalarType widened(ScalarType type) {
  return bytesOf(type) == 2 ? (isSigned(type) ? ScalarType::S32 : ScalarType::U32)
                            : (isSigned(type) ? ScalarType::S64 : ScalarType::U64);
}

template <template <class> class F> Handler mulHiHandler(ScalarType type) {
  if (bytesOf(type) < 2)
    return nullptr;
  return forInteger(type, []<class T>() -> Handler {
    if constexpr (sizeof(T) == 1)
      return nullptr;
    else
      return laneOp<F<T>, T, T, T>;
  });
}

void decodeMulInteger(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes,
                      ScalarType type) {
  if (suffixes.take("wide")) {
    Handler handler = wideHandler<MulWide>(type);
    if (!handler)
      decoder.unsupported("mul.wide needs a 16- or 32-bit integer type");
    decoder.wantOperands(instruction, 3);
    uint32_t a = decoder.source(instruction.operands[1], type),
             b = decoder.source(instruction.operands[2], type);
    decoder.emit(handler, {decoder.target(instruction.operands[0], widened(type))}, {a, b});
    return;
  }
  bool high = suffixes.take("hi");
  if (!high && !suffixes.take("lo"))
    decoder.unsupported("an integer product needs .lo, .hi or .wide");
  emitSimple(decoder, instruction, high ? mulHiHandler<MulHi>(type) : binaryInteger<MulLo>(type),
             type, 3);
}

void decodeMad(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type)) {
    decodeFma(decoder, instruction, suffixes, type);
    return;
  }
  if (suffixes.take("cc")) {
    decodeWithCarry(decoder, instruction, suffixes, CarriedOperation::ProductSum, type,
                    {.writes = true});
    return;
  }
  decoder.wantOperands(instruction, 4);
  if (suffixes.take("wide")) {
    Handler handler = madWideHandler(type);
    if (!handler)
      decoder.unsupported("mad.wide needs a 16- or 32-bit integer type");
    uint32_t a = decoder.source(instruction.operands[1], type),
             b = decoder.source(instruction.operands[2], type);
    uint32_t c = decoder.source(instruction.operands[3], widened(type));
    decoder.emit(handler, {decoder.target(instruction.operands[0], widened(type))}, {a, b, c});
    return;
  }
  bool high = suffixes.take("hi");
  if (!high && !suffixes.take("lo"))
    decoder.unsupported("an integer mad needs .lo, .hi or .wide");
  if (high && type == ScalarType::S32 && suffixes.take("sat")) {
    emitSimple(decoder, instruction, laneOp<MadHiSaturate, int32_t, int32_t, int32_t, int32_t>,
               type, 4);
    return;
  }
  Handler low =
      isWord(type)
          ? forInteger(type, []<class T>() -> Handler { return laneOp<MadLo<T>, T, T, T, T>; })
          : nullptr;
  Handler top = bytesOf(type) < 2 ? nullptr : forInteger(type, []<class T>() -> Handler {
    if constexpr (sizeof(T) == 1)
      return nullptr;
    else
      return laneOp<MadHi<T>, T, T, T, T>;
  });
  emitSimple(decoder, instruction, high ? top : low, type, 4);
}

void decodeMul24(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  bool high = suffixes.take("hi");
  if ((!high && !suffixes.take("lo")) || (type != ScalarType::U32 && type != ScalarType::S32))
    decoder.unsupported("expected .lo or .hi and .u32 or .s32");
  auto pick = [&]<class T>() -> Handler {
    return high ? laneOp<Mul24<T, true>, T, T, T> : laneOp<Mul24<T, false>, T, T, T>;
  };
  Handler handler = isSigned(type) ? pick.operator()<int32_t>() : pick.operator()<uint32_t>();
  emitSimple(decoder, instruction, handler, type, 3);
}

void decodeMad24(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  bool high = suffixes.take("hi"), saturates = high && suffixes.take("sat");
  if ((!high && !suffixes.take("lo")) || (type != ScalarType::U32 && type != ScalarType::S32) ||
      (saturates && !isSigned(type)))
    decoder.unsupported("expected mad24.{lo,hi}.{u32,s32} or mad24.hi.sat.s32");
  auto pick = [&]<class T>() -> Handler {
    return high ? laneOp<Mad24<T, true>, T, T, T, T> : laneOp<Mad24<T, false>, T, T, T, T>;
  };
  Handler handler = saturates        ? laneOp<Mad24Saturate, int32_t, int32_t, int32_t, int32_t>
                    : isSigned(type) ? pick.operator()<int32_t>()
                                     : pick.operator()<uint32_t>();
  emitSimple(decoder, instruction, handler, type, 4);
}

void decodeMul(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  isFloat(type) ? decodeFloatBinary(decoder, instruction, suffixes, type, FloatOperation::Mul)
                : decodeMulInteger(decoder, instruction, suffixes, type);
}

const std::initializer_list<FormOrder> kMulOrders = {
    {"hi lo wide > cc | " TILE_ROUNDINGS " | ftz | sat | relu | " TILE_TYPES}};

const OpcodeInfo kOpcodes[] = {
    {.name = "mul",
     .decode = decodeMul,
     .time = timeOfProduct,
     .forms = {{.never = "b8 b16 b32 b64 u8 s8"}},
     .orders = kMulOrders,
     .requirements = {{"f16", 53, 42}, {"f16x2", 53, 42}, {"bf16", 90, 78}, {"bf16x2", 90, 78}}},
    {.name = "mad",
     .decode = decodeMad,
     .time = timeOfProduct,
     .forms = {{.never = "b8 b16 b32 b64 u8 s8"}, {.never = "relu f16 f16x2 bf16 bf16x2"}},
     .orders = kMulOrders},
    {.name = "mul24", .decode = decodeMul24, .orders = kMulOrders},
    {.name = "mad24", .decode = decodeMad24, .orders = kMulOrders},
    {.name = "dp4a", .decode = decodeDp4a, .requirements = {{"", 61, 50}}},
    {.name = "dp2a", .decode = decodeDp2a, .requirements = {{"", 61, 50}}},
    {.name = "sad",
     .decode = decodeSad,
     .time = alwaysCosts<Cost::Alu>,
     .forms = {{.never = "b8 b16 b32 b64 u8 s8"}}},
};

} // namespace

OpcodeRows productsOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
