// mov in all its forms: registers, addresses of variables, packing and unpacking of vectors, clocks; selp and slct.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/isa/alu/FloatRules.h"
#include "runtime/vgpu/isa/alu/WideRegisters.h"

namespace tile::vgpu {
namespace {

template <class T> struct Copy {
  T operator()(T value) const { return value; }
};

void copyPredicate(Warp &warp, const Op &op) {
  mergeMask(warp.predicate(op.rows[0]), warp.predicate(op.rows[1]), warp.mask);
}

template <class T> void packShadow(Warp &warp, const Op &op) {
  unsigned bits = op.a;
  forLanes(warp.mask, [&](unsigned lane) {
    T undefined = 0;
    for (unsigned i = 0; i < op.sources; ++i) {
      uint64_t piece = warp.shadow.undefined<uint32_t>(op.rows[1 + i], lane);
      undefined |= static_cast<T>((piece & ((uint64_t{1} << bits) - 1)) << (bits * i));
    }
    warp.shadow.setUndefined(op.rows[0], lane, undefined);
  });
}

template <class T> void unpackShadow(Warp &warp, const Op &op) {
  unsigned bits = op.a;
  forLanes(warp.mask, [&](unsigned lane) {
    uint64_t undefined = warp.shadow.undefined<T>(op.rows[op.targets], lane);
    for (unsigned i = 0; i < op.targets; ++i)
      warp.shadow.setUndefined(
          op.rows[i], lane,
          static_cast<uint32_t>(undefined >> (bits * i) & ((uint64_t{1} << bits) - 1)));
  });
}

template <class T> T lowBits(unsigned bits) {
  return static_cast<T>(~T{0}) >> (8 * sizeof(T) - bits);
}

template <class T> void store(Warp &warp, uint32_t row, const T *values) {
  T *target = warp.row<T>(row);
  if (warp.mask == kFullMask)
    std::memcpy(target, values, kLanes * sizeof(T));
  else
    forLanes(warp.mask, [&](unsigned lane) { target[lane] = values[lane]; });
}

// Two halves make a word, in all lanes: what tensor cores' kernels do most.
void packHalves(Warp &warp, const Op &op) {
  const uint32_t *low = warp.row<uint32_t>(op.rows[1]), *high = warp.row<uint32_t>(op.rows[2]);
  uint32_t *target = warp.row<uint32_t>(op.rows[0]);
  TILE_LANE_LOOP
  for (unsigned lane = 0; lane < kLanes; ++lane)
    target[lane] = (low[lane] & 0xffff) | high[lane] << 16;
}

void unpackHalves(Warp &warp, const Op &op) {
  uint32_t *low = warp.row<uint32_t>(op.rows[0]), *high = warp.row<uint32_t>(op.rows[1]);
  const uint32_t *whole = warp.row<uint32_t>(op.rows[2]);
  TILE_LANE_LOOP
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t word = whole[lane];
    low[lane] = word & 0xffff;
    high[lane] = word >> 16;
  }
}

bool areHalves(const Warp &warp, const Op &op, unsigned pieces) {
  return op.a == 16 && pieces == 2 && warp.mask == kFullMask;
}

// Joins op.sources pieces of op.a bits each, the first lowest.
template <class T> void pack(Warp &warp, const Op &op) {
  if (std::is_same_v<T, uint32_t> && areHalves(warp, op, op.sources))
    return packHalves(warp, op);
  unsigned bits = op.a;
  T mask = lowBits<T>(bits), values[kLanes] = {};
  for (unsigned i = 0; i < op.sources; ++i) {
    const uint32_t *piece = warp.row<uint32_t>(op.rows[1 + i]);
    unsigned shift = bits * i;
    TILE_LANE_LOOP
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] |= (T{piece[lane]} & mask) << shift;
  }
  store(warp, op.rows[0], values);
}

template <class T> void unpack(Warp &warp, const Op &op) {
  if (std::is_same_v<T, uint32_t> && areHalves(warp, op, op.targets))
    return unpackHalves(warp, op);
  unsigned bits = op.a;
  auto mask = static_cast<uint32_t>(lowBits<T>(bits));
  T whole[kLanes]; // a target may be the source
  std::memcpy(whole, warp.row<T>(op.rows[op.targets]), sizeof whole);
  for (unsigned i = 0; i < op.targets; ++i) {
    uint32_t pieces[kLanes];
    unsigned shift = bits * i;
    TILE_LANE_LOOP
    for (unsigned lane = 0; lane < kLanes; ++lane)
      pieces[lane] = static_cast<uint32_t>(whole[lane] >> shift) & mask;
    store(warp, op.rows[i], pieces);
  }
}

ScalarType bitsType(size_t bytes) {
  switch (bytes) {
  case 1:
    return ScalarType::B8;
  case 2:
    return ScalarType::B16;
  case 4:
    return ScalarType::B32;
  default:
    return ScalarType::None;
  }
}

void decodeVectorMove(Decoder &decoder, const Instruction &instruction, ScalarType type) {
  const Operand &to = instruction.operands[0], &from = instruction.operands[1];
  bool packs = from.kind == Operand::Kind::Vector;
  const std::vector<Operand> &pieces = packs ? from.parts : to.parts;
  if (packs && to.kind == Operand::Kind::Vector)
    decoder.malformed("a move from vector to vector says how many elements: mov.v2 or mov.v4");
  ScalarType piece = pieces.empty() ? ScalarType::None : bitsType(bytesOf(type) / pieces.size());
  if (piece == ScalarType::None || bytesOf(piece) * pieces.size() != bytesOf(type))
    decoder.malformed("the elements do not fill the type");
  bool wide = bytesOf(type) == 8;
  std::vector<uint32_t> rows;
  uint32_t bits = 8 * bytesOf(piece);
  if (packs) {
    for (const Operand &operand : pieces)
      rows.push_back(decoder.source(operand, piece));
    uint32_t target = decoder.target(to, type);
    Handlers handlers = wide ? Handlers{pack<uint64_t>, packShadow<uint64_t>}
                             : Handlers{pack<uint32_t>, packShadow<uint32_t>};
    decoder.emitWide(handlers, std::array{target}, rows, 0, bits);
    return;
  }
  uint32_t source = decoder.source(from, type);
  for (const Operand &operand : pieces)
    rows.push_back(decoder.target(operand, piece));
  Handlers handlers = wide ? Handlers{unpack<uint64_t>, unpackShadow<uint64_t>}
                           : Handlers{unpack<uint32_t>, unpackShadow<uint32_t>};
  decoder.emitWide(handlers, rows, std::array{source}, 0, bits);
}

// The elements of a vector; of a special register such as %tid they are its axes.
std::vector<Operand> elementsOf(Decoder &decoder, const Operand &operand, size_t width) {
  if (operand.kind == Operand::Kind::Special) {
    std::vector<Operand> axes(4, operand);
    for (size_t i = 0; i < axes.size(); ++i)
      axes[i].axis = static_cast<uint8_t>(i + 1);
    return axes;
  }
  if (operand.kind != Operand::Kind::Vector || operand.parts.size() != width)
    decoder.malformed("expected a vector of " + std::to_string(width) + " elements");
  return operand.parts;
}

// mov.v2, mov.v4: all are read before any is written.
void decodeElementMoves(Decoder &decoder, const Instruction &instruction, ScalarType type,
                        size_t width) {
  std::vector<Operand> to = elementsOf(decoder, instruction.operands[0], width),
                       from = elementsOf(decoder, instruction.operands[1], width);
  if (from.size() != to.size())
    decoder.malformed("the vectors have different widths");
  bool wide = bytesOf(type) == 8;
  if (type == ScalarType::None || type == ScalarType::Pred || bytesOf(type) > 8)
    decoder.unsupported("expected elements of up to 64 bits");
  Handlers copy = wide ? bitOp<Copy<uint64_t>, 1, uint64_t, uint64_t>()
                       : bitOp<Copy<uint32_t>, 1, uint32_t, uint32_t>();
  std::vector<uint32_t> values;
  for (const Operand &element : from) {
    uint32_t source = decoder.source(element, type);
    values.push_back(decoder.temporary(bytesOf(type)));
    decoder.emit(copy, {values.back()}, {source});
  }
  for (size_t i = 0; i < to.size(); ++i)
    decoder.emit(copy, {decoder.target(to[i], type)}, {values[i]});
}

// Clocks grow with every reading: enough for code that waits, and the same in every run. Op::a: the bits left out.
template <class T> void readClock(Warp &warp, const Op &op) {
  T *target = warp.row<T>(op.rows[0]);
  T now = static_cast<T>((++warp.clockReads * 64) >> op.a);
  forLanes(warp.mask, [&](unsigned lane) { target[lane] = now; });
}

bool isClock(const Operand &operand) {
  return operand.kind == Operand::Kind::Special &&
         (operand.name == "%clock" || operand.name == "%clock64" || operand.name == "%clock_hi" ||
          operand.name == "%globaltimer" || operand.name == "%globaltimer_lo" ||
          operand.name == "%globaltimer_hi");
}

void decodeMove(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view width = suffixes.takeOneOf({"v2", "v4"});
  ScalarType type = suffixes.takeType();
  decoder.wantOperands(instruction, 2);
  const Operand &to = instruction.operands[0], &from = instruction.operands[1];
  if (type == ScalarType::None)
    decoder.unsupported("expected a type");
  if (!width.empty())
    return decodeElementMoves(decoder, instruction, type, width == "v2" ? 2 : 4);
  if (type == ScalarType::B128)
    return decodeWideMove(decoder, instruction);
  if (to.kind == Operand::Kind::Vector || from.kind == Operand::Kind::Vector) {
    decodeVectorMove(decoder, instruction, type);
    return;
  }
  bool wide = bytesOf(type) == 8;
  if (isClock(from)) {
    uint32_t skipped = from.name.ends_with("_hi") ? 32 : 0;
    decoder.emit(wide ? readClock<uint64_t> : readClock<uint32_t>, {decoder.target(to, type)}, {},
                 0, skipped);
    return;
  }
  uint32_t source = type == ScalarType::Pred ? decoder.predicate(from) : decoder.source(from, type);
  Handlers handlers = type == ScalarType::Pred ? copyPredicate
                      : wide                   ? bitOp<Copy<uint64_t>, 1, uint64_t, uint64_t>()
                                               : bitOp<Copy<uint32_t>, 1, uint32_t, uint32_t>();
  decoder.emit(handlers, {decoder.target(to, type)}, {source});
}

// The operand that is not selected may be uninitialised.
template <class T> void selectShadow(Warp &warp, const Op &op) {
  uint32_t condition = warp.predicate(op.rows[3]), known = warp.shadow.whole(op.rows[3]);
  forLanes(warp.mask, [&](unsigned lane) {
    T chosen = warp.shadow.undefined<T>(op.rows[condition >> lane & 1 ? 1 : 2], lane);
    warp.shadow.setUndefined(op.rows[0], lane, known >> lane & 1 ? chosen : static_cast<T>(-1));
  });
}

template <class T> void selectByPredicate(Warp &warp, const Op &op) {
  T *target = warp.row<T>(op.rows[0]);
  const T *yes = warp.row<T>(op.rows[1]), *no = warp.row<T>(op.rows[2]);
  uint32_t condition = warp.predicate(op.rows[3]), mask = warp.mask;
  TILE_LANE_LOOP
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    T one = yes[lane], other = no[lane],
      before = target[lane]; // all are read, so that none is a branch
    target[lane] = mask >> lane & 1 ? (condition >> lane & 1 ? one : other) : before;
  }
}

void selectPredicate(Warp &warp, const Op &op) {
  uint32_t condition = warp.predicate(op.rows[3]);
  uint32_t value =
      (warp.predicate(op.rows[1]) & condition) | (warp.predicate(op.rows[2]) & ~condition);
  mergeMask(warp.predicate(op.rows[0]), value, warp.mask);
}

void decodeSelect(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  ScalarType type = suffixes.takeType();
  decoder.wantOperands(instruction, 4);
  if (type == ScalarType::None || bytesOf(type) == 1 || bytesOf(type) > 8)
    decoder.unsupported("expected a type of 16 to 64 bits");
  uint32_t yes = decoder.source(instruction.operands[1], type),
           no = decoder.source(instruction.operands[2], type);
  uint32_t condition = decoder.predicate(instruction.operands[3]);
  Handlers handlers = selectPredicate;
  if (type != ScalarType::Pred)
    handlers = bytesOf(type) == 8 ? Handlers{selectByPredicate<uint64_t>, selectShadow<uint64_t>}
                                  : Handlers{selectByPredicate<uint32_t>, selectShadow<uint32_t>};
  decoder.emit(handlers, {decoder.target(instruction.operands[0], type)}, {yes, no, condition});
}

template <class T> struct SelectBySign {
  T operator()(T a, T b, int32_t c) const { return c >= 0 ? a : b; }
};
// -0 counts as not negative, and so does a negative subnormal that is flushed; NaN as negative.
template <class T, bool Flush> struct SelectByFloat {
  T operator()(T a, T b, float c) const { return flush<Flush>(c) >= 0.0f ? a : b; }
};
template <class T, bool Flush>
constexpr Handler kSelectByFloat = laneOp<SelectByFloat<T, Flush>, T, T, T, float>;

void decodeSlct(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool flushes = suffixes.take("ftz");
  ScalarType type = suffixes.takeType(), by = suffixes.takeType();
  decoder.wantOperands(instruction, 4);
  if (flushes && by != ScalarType::F32)
    decoder.unsupported(".ftz goes with a comparison of .f32");
  if ((by != ScalarType::S32 && by != ScalarType::F32) || bytesOf(type) < 2 || bytesOf(type) > 8)
    decoder.unsupported("expected slct.type.s32 or slct.type.f32");
  bool wide = bytesOf(type) == 8, floating = by == ScalarType::F32;
  Handler handler =
      wide
          ? (floating ? (flushes ? kSelectByFloat<uint64_t, true> : kSelectByFloat<uint64_t, false>)
                      : laneOp<SelectBySign<uint64_t>, uint64_t, uint64_t, uint64_t, int32_t>)
          : (floating ? (flushes ? kSelectByFloat<uint32_t, true> : kSelectByFloat<uint32_t, false>)
                      : laneOp<SelectBySign<uint32_t>, uint32_t, uint32_t, uint32_t, int32_t>);
  uint32_t a = decoder.source(instruction.operands[1], type),
           b = decoder.source(instruction.operands[2], type);
  uint32_t c = decoder.source(instruction.operands[3], by);
  decoder.emit(handler, {decoder.target(instruction.operands[0], type)}, {a, b, c});
}

void pause(Warp &warp, const Op &) {
  // Sleeping warps let others run.
  warp.budget = 0;
  warp.limit = 0;
}

void decodeNanosleep(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.takeType() != ScalarType::U32)
    decoder.unsupported("expected nanosleep.u32");
  decoder.wantOperands(instruction, 1);
  decoder.emit(pause, {}, {});
}

const OpcodeInfo kOpcodes[] = {
    {.name = "mov",
     .decode = decodeMove,
     .time = timeOfMove,
     .kind = always<InstructionClass::Move>,
     .forms = {{.never = "f16 f16x2 bf16 bf16x2"}},
     .requirements = {{"b128", 70, 83}},
     .traits = kCopiesRegister},
    {.name = "selp",
     .decode = decodeSelect,
     .time = alwaysCosts<Cost::Alu>,
     .kind = always<InstructionClass::Compare>,
     .forms = {{.never = "f16 f16x2 bf16 bf16x2"}, {.never = "pred"}}},
    {.name = "slct",
     .decode = decodeSlct,
     .time = alwaysCosts<Cost::Alu>,
     .kind = always<InstructionClass::Compare>,
     .forms = {{.never = "f16 f16x2 bf16 bf16x2"}}},
    {.name = "nanosleep",
     .decode = decodeNanosleep,
     .time = alwaysCosts<Cost::Issue>,
     .kind = always<InstructionClass::Other>,
     .requirements = {{"", 70, 63}}},
};

} // namespace

OpcodeRows moveOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
