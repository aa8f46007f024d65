// Integer arithmetic and logic. Shifts and bit fields are in Bits.cpp.
#include "runtime/vgpu/Select.h"

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
template <class T> struct MulLo {
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

template <class T> struct WiderOf;
template <> struct WiderOf<uint16_t> { using Type = uint32_t; };
template <> struct WiderOf<int16_t> { using Type = int32_t; };
template <> struct WiderOf<uint32_t> { using Type = uint64_t; };
template <> struct WiderOf<int32_t> { using Type = int64_t; };
template <> struct WiderOf<uint64_t> { using Type = unsigned __int128; };
template <> struct WiderOf<int64_t> { using Type = __int128; };
template <class T> using Wider = typename WiderOf<T>::Type;

template <class T> struct MulHi {
  T operator()(T a, T b) const {
    return static_cast<T>((Wider<T>(a) * Wider<T>(b)) >> (8 * sizeof(T)));
  }
};
template <class T> struct MulWide {
  Wider<T> operator()(T a, T b) const { return static_cast<Wider<T>>(Wider<T>(a) * Wider<T>(b)); }
};
template <class T> struct MadLo {
  T operator()(T a, T b, T c) const { return Add<T>{}(MulLo<T>{}(a, b), c); }
};
template <class T> struct MadHi {
  T operator()(T a, T b, T c) const { return Add<T>{}(MulHi<T>{}(a, b), c); }
};
template <class T> struct MadWide {
  Wider<T> operator()(T a, T b, Wider<T> c) const { return Add<Wider<T>>{}(MulWide<T>{}(a, b), c); }
};
template <class T> struct Mul24 {
  T operator()(T a, T b) const {
    constexpr int unused = 8;
    T x = static_cast<T>(static_cast<uint32_t>(a) << unused) >> unused;
    T y = static_cast<T>(static_cast<uint32_t>(b) << unused) >> unused;
    return MulLo<T>{}(x, y);
  }
};

// Division by zero is unspecified in PTX; all ones is what hardware gives. The smallest number over -1 wraps.
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
      return a;
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
template <bool Signed> struct Dp4a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int i = 0; i < 4; ++i) {
      auto x = static_cast<uint8_t>(a >> (8 * i)), y = static_cast<uint8_t>(b >> (8 * i));
      c += Signed ? static_cast<uint32_t>(static_cast<int8_t>(x) * static_cast<int8_t>(y))
                  : uint32_t{x} * y;
    }
    return c;
  }
};
template <class T> struct Sad {
  T operator()(T a, T b, T c) const { return Add<T>{}(c, a < b ? Sub<T>{}(b, a) : Sub<T>{}(a, b)); }
};
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

// add, sub, min, max, abs, neg: integer forms here, the others with the floats.
template <template <class> class F>
void decodeBinary(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  emitSimple(decoder, instruction, isWord(type) ? binaryInteger<F>(type) : nullptr, type, 3);
}

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

template <class F>
constexpr Handler kThreeWords = laneOp<F, uint32_t, uint32_t, uint32_t, uint32_t>;

void decodeDp4a(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType a = suffixes.takeType(), b = suffixes.takeType();
  if (a != b || (a != ScalarType::U32 && a != ScalarType::S32))
    decoder.unsupported("expected dp4a.u32.u32 or dp4a.s32.s32");
  emitSimple(decoder, instruction,
             a == ScalarType::S32 ? kThreeWords<Dp4a<true>> : kThreeWords<Dp4a<false>>, a, 4);
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
  if (!suffixes.take("lo"))
    decoder.unsupported("expected mul24.lo");
  Handler handler = type == ScalarType::U32 ? laneOp<Mul24<uint32_t>, uint32_t, uint32_t, uint32_t>
                    : type == ScalarType::S32 ? laneOp<Mul24<int32_t>, int32_t, int32_t, int32_t>
                                              : nullptr;
  emitSimple(decoder, instruction, handler, type, 3);
}

// Opcodes that integers and floats share: the type decides.
void decodeAdd(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type))
    decodeFloatBinary(decoder, instruction, suffixes, type);
  else if (type == ScalarType::S32 && suffixes.take("sat"))
    emitSimple(decoder, instruction, laneOp<AddSaturate, int32_t, int32_t, int32_t>, type, 3);
  else
    emitSimple(decoder, instruction, isWord(type) ? binaryInteger<Add>(type) : nullptr, type, 3);
}

void decodeSub(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type))
    decodeFloatBinary(decoder, instruction, suffixes, type);
  else if (type == ScalarType::S32 && suffixes.take("sat"))
    emitSimple(decoder, instruction, laneOp<SubSaturate, int32_t, int32_t, int32_t>, type, 3);
  else
    emitSimple(decoder, instruction, isWord(type) ? binaryInteger<Sub>(type) : nullptr, type, 3);
}

void decodeMul(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  isFloat(type) ? decodeFloatBinary(decoder, instruction, suffixes, type)
                : decodeMulInteger(decoder, instruction, suffixes, type);
}

void decodeDiv(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type))
    decodeFloatDivision(decoder, instruction, suffixes, type);
  else
    emitSimple(decoder, instruction, isWord(type) ? binaryInteger<Div>(type) : nullptr, type, 3);
}

template <template <class> class F>
void decodeMinMax(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type)) {
    decodeFloatBinary(decoder, instruction, suffixes, type);
    return;
  }
  emitSimple(decoder, instruction, isWord(type) ? binaryInteger<F>(type) : nullptr, type, 3);
}

template <template <class> class F>
void decodeSign(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (isFloat(type))
    decodeFloatSign(decoder, instruction, suffixes, type);
  else
    emitSimple(decoder, instruction,
               isSigned(type) && isWord(type) ? unaryInteger<F>(type) : nullptr, type, 2);
}

} // namespace

void registerInteger(OpcodeTable &table) {
  table["add"] = decodeAdd;
  table["sub"] = decodeSub;
  table["mul"] = decodeMul;
  table["mad"] = decodeMad;
  table["mul24"] = decodeMul24;
  table["div"] = decodeDiv;
  table["rem"] = decodeBinary<Rem>;
  table["min"] = decodeMinMax<Min>;
  table["max"] = decodeMinMax<Max>;
  table["abs"] = decodeSign<Abs>;
  table["neg"] = decodeSign<Neg>;
  table["and"] = decodeLogic<And>;
  table["or"] = decodeLogic<Or>;
  table["xor"] = decodeLogic<Xor>;
  table["not"] = decodeNot;
  table["cnot"] = decodeCNot;
  table["dp4a"] = decodeDp4a;
  table["sad"] = decodeSad;
}

} // namespace tile::vgpu
