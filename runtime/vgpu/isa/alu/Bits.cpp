// Shifts, bit fields, bit counts and byte permutation.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// Counts past the width give what infinitely many single shifts would.
template <class T> struct Shl {
  T operator()(T a, uint32_t count) const {
    return count < 8 * sizeof(T) ? static_cast<T>(static_cast<Wrapping<T>>(a) << count) : T{0};
  }
};
template <class T> struct Shr {
  T operator()(T a, uint32_t count) const {
    constexpr uint32_t bits = 8 * sizeof(T);
    if (count >= bits)
      return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> count);
  }
};
template <bool Left, bool Wrap> struct Funnel {
  uint32_t operator()(uint32_t low, uint32_t high, uint32_t count) const {
    count = Wrap ? count & 31 : std::min(count, 32u);
    uint64_t both = uint64_t{high} << 32 | low;
    return static_cast<uint32_t>(Left ? (both << count) >> 32 : both >> count);
  }
};
template <class T> struct Popc {
  uint32_t operator()(T a) const { return static_cast<uint32_t>(std::popcount(a)); }
};
template <class T> struct Clz {
  uint32_t operator()(T a) const { return static_cast<uint32_t>(std::countl_zero(a)); }
};
template <class T> struct Brev {
  T operator()(T a) const {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      result = static_cast<T>(result << 1 | (a >> i & 1));
    return result;
  }
};
// The position of the most significant bit that is not the sign; ShiftAmount: how far it is from the top.
template <class T, bool ShiftAmount> struct Bfind {
  uint32_t operator()(T a) const {
    auto bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
    if (bits == 0)
      return ~0u;
    auto zeros = static_cast<uint32_t>(std::countl_zero(bits));
    return ShiftAmount ? zeros : 8 * sizeof(T) - 1 - zeros;
  }
};
// Positions and lengths of bit fields: of their low 8 bits in words, as PTX has it. In double words hardware takes them whole.
template <class T> uint32_t fieldCount(uint32_t count) {
  constexpr uint32_t kBeyond = 255;
  return sizeof(T) == 8 ? std::min(count, kBeyond) : count & 255;
}
template <class T> struct Bfe {
  T operator()(T a, uint32_t start, uint32_t length) const {
    constexpr uint32_t bits = 8 * sizeof(T);
    start = fieldCount<T>(start), length = fieldCount<T>(length);
    uint32_t signAt = std::min(start + length - 1, bits - 1);
    bool sign = std::is_signed_v<T> && length > 0 && (a >> signAt & 1);
    using U = std::make_unsigned_t<T>;
    U field = start < bits ? static_cast<U>(a) >> start : U{0};
    uint32_t kept = std::min(length, start < bits ? bits - start : 0);
    U mask = kept >= bits ? static_cast<U>(-1) : static_cast<U>((U{1} << kept) - 1);
    U fill = sign ? static_cast<U>(~mask) : U{0};
    return length == 0 ? T{0} : static_cast<T>((field & mask) | fill);
  }
};
template <class T> struct Bfi {
  T operator()(T field, T into, uint32_t start, uint32_t length) const {
    constexpr uint32_t bits = 8 * sizeof(T);
    start = fieldCount<T>(start), length = fieldCount<T>(length);
    if (start >= bits || length == 0)
      return into;
    T ones = length >= bits ? static_cast<T>(-1) : static_cast<T>((T{1} << length) - 1);
    T mask = static_cast<T>(ones << start);
    return static_cast<T>((into & ~mask) | ((field << start) & mask));
  }
};
struct Prmt {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t selector) const {
    uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t nibble = selector >> (4 * i) & 15;
      uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7))) & 255;
      if (nibble & 8)
        byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * i);
    }
    return result;
  }
};
enum class PrmtMode { F4e, B4e, Rc8, Ecl, Ecr, Rc16 };
template <PrmtMode Mode> struct PrmtNamed {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t selector) const {
    static constexpr uint32_t selectors[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
        {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
        {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    return Prmt{}(a, b, selectors[static_cast<int>(Mode)][selector & 3]);
  }
};
struct Itself {
  uint32_t operator()(uint32_t a) const { return a; }
};
// Bit by bit, the table's entry that the bits of a, b and c number.
struct Lop3 {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c, uint32_t table) const {
    uint32_t result = 0;
    for (unsigned entry = 0; entry < 8; ++entry)
      if (table >> entry & 1)
        result |= (entry & 4 ? a : ~a) & (entry & 2 ? b : ~b) & (entry & 1 ? c : ~c);
    return result;
  }
};
// The position of the n-th set bit at or above `base` (below, for negative n; at it, for zero), or all ones.
struct Fns {
  uint32_t operator()(uint32_t mask, uint32_t base, int32_t n) const {
    if (n == 0)
      return base < 32 && (mask >> base & 1) ? base : ~0u;
    int64_t left = std::abs(int64_t{n}), step = n > 0 ? 1 : -1;
    for (int64_t at = base; at >= 0 && at < 32; at += step)
      if ((mask >> at & 1) && --left == 0)
        return static_cast<uint32_t>(at);
    return ~0u;
  }
};
// `width` ones from bit `start` on.
template <bool Clamp> struct Bmsk {
  uint32_t operator()(uint32_t start, uint32_t width) const {
    if (!Clamp)
      start &= 31, width &= 31;
    if (start >= 32)
      return 0;
    uint32_t ones = width >= 32 ? ~0u : (1u << width) - 1;
    return ones << start;
  }
};
// The low `width` bits with their sign, or with zeros, above them.
template <bool Clamp, class T> struct Szext {
  T operator()(T value, uint32_t width) const {
    if (!Clamp)
      width &= 31;
    if (width >= 32)
      return value;
    auto bits = static_cast<uint32_t>(value), ones = (1u << width) - 1;
    bool sign = std::is_signed_v<T> && width > 0 && (bits >> (width - 1) & 1);
    return static_cast<T>((bits & ones) | (sign ? ~ones : 0));
  }
};
template <template <class> class F> Handlers shiftHandlers(ScalarType type) {
  return forInteger(type, []<class T>() -> Handlers { return bitOp<F<T>, 1, T, T, uint32_t>(); });
}

template <template <class> class F>
void decodeShift(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  if (!isWord(type))
    decoder.unsupported("this type");
  decoder.wantOperands(instruction, 3);
  uint32_t value = decoder.source(instruction.operands[1], type);
  uint32_t count = decoder.source(instruction.operands[2], ScalarType::U32);
  decoder.emit(shiftHandlers<F>(type), {decoder.target(instruction.operands[0], type)},
               {value, count});
}

void decodeFunnel(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool left = suffixes.take("l"), right = !left && suffixes.take("r");
  bool wrap = suffixes.take("wrap"), clamp = !wrap && suffixes.take("clamp");
  if ((!left && !right) || (!wrap && !clamp) || suffixes.takeType() != ScalarType::B32)
    decoder.unsupported("expected shf.{l,r}.{wrap,clamp}.b32");
  Handlers handlers =
      left ? (wrap ? bitOp<Funnel<true, true>, 2, uint32_t, uint32_t, uint32_t, uint32_t>()
                   : bitOp<Funnel<true, false>, 2, uint32_t, uint32_t, uint32_t, uint32_t>())
           : (wrap ? bitOp<Funnel<false, true>, 2, uint32_t, uint32_t, uint32_t, uint32_t>()
                   : bitOp<Funnel<false, false>, 2, uint32_t, uint32_t, uint32_t, uint32_t>());
  emitSimple(decoder, instruction, handlers, ScalarType::B32, 4);
}

template <template <class> class F>
void decodeCount(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  decoder.wantOperands(instruction, 2);
  Handler handler = type == ScalarType::B32   ? laneOp<F<uint32_t>, uint32_t, uint32_t>
                    : type == ScalarType::B64 ? laneOp<F<uint64_t>, uint32_t, uint64_t>
                                              : nullptr;
  if (!handler)
    decoder.unsupported("expected .b32 or .b64");
  uint32_t source = decoder.source(instruction.operands[1], type);
  decoder.emit(handler, {decoder.target(instruction.operands[0], ScalarType::U32)}, {source});
}

void decodeBrev(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  Handlers handlers = type == ScalarType::B32   ? bitOp<Brev<uint32_t>, 1, uint32_t, uint32_t>()
                      : type == ScalarType::B64 ? bitOp<Brev<uint64_t>, 1, uint64_t, uint64_t>()
                                                : nullptr;
  emitSimple(decoder, instruction, handlers, type, 2);
}

template <bool ShiftAmount> Handler bfindHandler(ScalarType type) {
  switch (type) {
  case ScalarType::U32:
    return laneOp<Bfind<uint32_t, ShiftAmount>, uint32_t, uint32_t>;
  case ScalarType::S32:
    return laneOp<Bfind<int32_t, ShiftAmount>, uint32_t, int32_t>;
  case ScalarType::U64:
    return laneOp<Bfind<uint64_t, ShiftAmount>, uint32_t, uint64_t>;
  case ScalarType::S64:
    return laneOp<Bfind<int64_t, ShiftAmount>, uint32_t, int64_t>;
  default:
    return nullptr;
  }
}

void decodeBfind(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool amount = suffixes.take("shiftamt");
  ScalarType type = suffixes.takeType();
  Handler handler = amount ? bfindHandler<true>(type) : bfindHandler<false>(type);
  if (!handler)
    decoder.unsupported("expected a 32- or 64-bit integer type");
  decoder.wantOperands(instruction, 2);
  uint32_t source = decoder.source(instruction.operands[1], type);
  decoder.emit(handler, {decoder.target(instruction.operands[0], ScalarType::U32)}, {source});
}

void decodeBfe(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  Handlers handlers =
      bytesOf(type) < 4 || isFloat(type) ? nullptr : forInteger(type, []<class T>() -> Handlers {
        return bitOp<Bfe<T>, 1, T, T, uint32_t, uint32_t>();
      });
  if (!handlers)
    decoder.unsupported("expected a 32- or 64-bit integer type");
  decoder.wantOperands(instruction, 4);
  uint32_t value = decoder.source(instruction.operands[1], type);
  uint32_t start = decoder.source(instruction.operands[2], ScalarType::U32);
  uint32_t length = decoder.source(instruction.operands[3], ScalarType::U32);
  decoder.emit(handlers, {decoder.target(instruction.operands[0], type)}, {value, start, length});
}

void decodeBfi(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  Handlers handlers =
      type == ScalarType::B32
          ? bitOp<Bfi<uint32_t>, 2, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>()
      : type == ScalarType::B64
          ? bitOp<Bfi<uint64_t>, 2, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>()
          : nullptr;
  if (!handlers)
    decoder.unsupported("expected .b32 or .b64");
  decoder.wantOperands(instruction, 5);
  uint32_t field = decoder.source(instruction.operands[1], type),
           into = decoder.source(instruction.operands[2], type);
  uint32_t start = decoder.source(instruction.operands[3], ScalarType::U32);
  uint32_t length = decoder.source(instruction.operands[4], ScalarType::U32);
  decoder.emit(handlers, {decoder.target(instruction.operands[0], type)},
               {field, into, start, length});
}

template <class F> Handlers permutation() {
  return bitOp<F, 2, uint32_t, uint32_t, uint32_t, uint32_t>();
}

void decodePrmt(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.takeType() != ScalarType::B32)
    decoder.unsupported("expected prmt.b32");
  const std::pair<std::string_view, Handlers> modes[] = {
      {"f4e", permutation<PrmtNamed<PrmtMode::F4e>>()},
      {"b4e", permutation<PrmtNamed<PrmtMode::B4e>>()},
      {"rc8", permutation<PrmtNamed<PrmtMode::Rc8>>()},
      {"ecl", permutation<PrmtNamed<PrmtMode::Ecl>>()},
      {"ecr", permutation<PrmtNamed<PrmtMode::Ecr>>()},
      {"rc16", permutation<PrmtNamed<PrmtMode::Rc16>>()}};
  for (auto [name, mode] : modes)
    if (suffixes.take(name))
      return emitSimple(decoder, instruction, mode, ScalarType::B32, 4);
  emitSimple(decoder, instruction, permutation<Prmt>(), ScalarType::B32, 4);
}

// lop3.{and,or}.b32 d|p: p = (d != 0) op q.
template <bool And> void notZero(Warp &warp, const Op &op) {
  const uint32_t *value = warp.row<uint32_t>(op.rows[1]);
  uint32_t result = 0, other = warp.predicate(op.rows[2]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result |= uint32_t{value[lane] != 0} << lane;
  mergeMask(warp.predicate(op.rows[0]), And ? result & other : result | other, warp.mask);
}

void decodeLop3(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view combination = suffixes.takeOneOf({"and", "or"});
  if (suffixes.takeType() != ScalarType::B32)
    decoder.unsupported("expected lop3.b32");
  decoder.wantOperands(instruction, combination.empty() ? 5 : 6);
  const Operand &to = instruction.operands[0], &table = instruction.operands[4];
  if ((to.kind == Operand::Kind::Pair) == combination.empty())
    decoder.malformed("expected d|p with .and or .or, and d without");
  if (table.kind != Operand::Kind::Immediate || table.value > 255)
    decoder.malformed("the table must be an immediate from 0 to 255");
  uint32_t sources[3];
  for (size_t i = 0; i < 3; ++i)
    sources[i] = decoder.source(instruction.operands[1 + i], ScalarType::B32);
  auto handlers = bitOp<Lop3, 3, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>();
  uint32_t entries = decoder.constant(table.value, 4);
  if (combination.empty()) {
    decoder.emit(handlers, {decoder.target(to, ScalarType::B32)},
                 {sources[0], sources[1], sources[2], entries});
    return;
  }
  uint32_t other = decoder.predicate(instruction.operands[5]);
  uint32_t value = decoder.temporary(4);
  decoder.emit(handlers, {value}, {sources[0], sources[1], sources[2], entries});
  decoder.emit(bitOp<Itself, 1, uint32_t, uint32_t>(),
               {decoder.target(to.parts[0], ScalarType::B32)}, {value});
  // Last, since the predicate may be the one that guards the instruction.
  decoder.emit(combination == "and" ? notZero<true> : notZero<false>,
               {decoder.target(to.parts[1], ScalarType::Pred)}, {value, other});
}

void decodeFns(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.takeType() != ScalarType::B32)
    decoder.unsupported("expected fns.b32");
  emitSimple(decoder, instruction, laneOp<Fns, uint32_t, uint32_t, uint32_t, int32_t>,
             ScalarType::B32, 4);
}

bool takeClamp(Decoder &decoder, Suffixes &suffixes) {
  std::string_view mode = suffixes.takeOneOf({"clamp", "wrap"});
  if (mode.empty())
    decoder.unsupported("expected .clamp or .wrap");
  return mode == "clamp";
}

void decodeBmsk(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool clamp = takeClamp(decoder, suffixes);
  if (suffixes.takeType() != ScalarType::B32)
    decoder.unsupported("expected .b32");
  emitSimple(decoder, instruction,
             clamp ? laneOp<Bmsk<true>, uint32_t, uint32_t, uint32_t>
                   : laneOp<Bmsk<false>, uint32_t, uint32_t, uint32_t>,
             ScalarType::B32, 3);
}

template <class T> Handlers szextHandlers(bool clamp) {
  return clamp ? bitOp<Szext<true, T>, 1, T, T, uint32_t>()
               : bitOp<Szext<false, T>, 1, T, T, uint32_t>();
}

void decodeSzext(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool clamp = takeClamp(decoder, suffixes);
  ScalarType type = suffixes.takeType();
  Handlers handlers = type == ScalarType::U32   ? szextHandlers<uint32_t>(clamp)
                      : type == ScalarType::S32 ? szextHandlers<int32_t>(clamp)
                                                : nullptr;
  emitSimple(decoder, instruction, handlers, type, 3);
}

const OpcodeInfo kOpcodes[] = {
    {.name = "shl",
     .decode = decodeShift<Shl>,
     .time = timeOfLogic,
     .forms = {{.needs = "b16 b32 b64 pred"}}},
    {.name = "shr", .decode = decodeShift<Shr>, .time = timeOfLogic},
    {.name = "shf",
     .decode = decodeFunnel,
     .time = alwaysCosts<Cost::Alu>,
     .orders = {{"l r > clamp wrap | b32"}},
     .requirements = {{"", 32, 31}}},
    {.name = "popc", .decode = decodeCount<Popc>, .time = alwaysCosts<Cost::Alu>},
    {.name = "clz", .decode = decodeCount<Clz>, .time = alwaysCosts<Cost::Alu>},
    {.name = "brev", .decode = decodeBrev, .time = alwaysCosts<Cost::Alu>},
    {.name = "bfind", .decode = decodeBfind, .time = alwaysCosts<Cost::Alu>},
    {.name = "bfe",
     .decode = decodeBfe,
     .time = alwaysCosts<Cost::Alu>,
     .forms = {{.never = "b32 b64"}}},
    {.name = "bfi", .decode = decodeBfi, .time = alwaysCosts<Cost::BitField>},
    {.name = "prmt",
     .decode = decodePrmt,
     .time = alwaysCosts<Cost::Alu>,
     .kind = always<InstructionClass::Move>},
    {.name = "lop3",
     .decode = decodeLop3,
     .time = alwaysCosts<Cost::Alu>,
     .requirements = {{"", 50, 43}, {"or", 70, 82}, {"and", 70, 82}}},
    {.name = "fns", .decode = decodeFns, .requirements = {{"", 30, 60}}},
    {.name = "bmsk", .decode = decodeBmsk, .requirements = {{"", 70, 76}}},
    {.name = "szext", .decode = decodeSzext, .requirements = {{"", 70, 76}}},
};

} // namespace

OpcodeRows bitsOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
