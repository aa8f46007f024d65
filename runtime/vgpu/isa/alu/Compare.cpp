// setp and set: comparisons of all types, optionally combined with a predicate.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/isa/alu/FloatRules.h"
#include "runtime/vgpu/isa/alu/HalfFormat.h"

namespace tile::vgpu {
namespace {

enum class Relation : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

template <Relation R, class T> inline bool holds(T a, T b) {
  if constexpr (R == Relation::Eq)
    return a == b;
  else if constexpr (R == Relation::Ne)
    return a < b || a > b;
  else if constexpr (R == Relation::Lt)
    return a < b;
  else if constexpr (R == Relation::Le)
    return a <= b;
  else if constexpr (R == Relation::Gt)
    return a > b;
  else if constexpr (R == Relation::Ge)
    return a >= b;
  else if constexpr (R == Relation::Equ)
    return !(a < b || a > b);
  else if constexpr (R == Relation::Neu)
    return !(a == b);
  else if constexpr (R == Relation::Ltu)
    return !(a >= b);
  else if constexpr (R == Relation::Leu)
    return !(a > b);
  else if constexpr (R == Relation::Gtu)
    return !(a <= b);
  else if constexpr (R == Relation::Geu)
    return !(a < b);
  else if constexpr (R == Relation::Num)
    return a == a && b == b;
  else
    return a != a || b != b;
}

template <Relation R, class T, bool Flush> inline bool compareLane(LaneOf<T> a, LaneOf<T> b) {
  if constexpr (std::is_same_v<T, F16>)
    return holds<R>(flush<Flush>(halfToFloat(static_cast<uint16_t>(a))),
                    flush<Flush>(halfToFloat(static_cast<uint16_t>(b))));
  else if constexpr (std::is_same_v<T, BF16>)
    return holds<R>(bfloatToFloat(static_cast<uint16_t>(a)),
                    bfloatToFloat(static_cast<uint16_t>(b)));
  else if constexpr (std::is_floating_point_v<T>)
    return holds<R>(flush<Flush>(fromLane<T>(a)), flush<Flush>(fromLane<T>(b)));
  else
    return holds<R>(fromLane<T>(a), fromLane<T>(b));
}

template <Relation R, class T, bool Flush>
uint32_t compareRows(Warp &warp, const Op &op, unsigned firstSource) {
  const LaneOf<T> *a = warp.row<LaneOf<T>>(op.rows[firstSource]);
  const LaneOf<T> *b = warp.row<LaneOf<T>>(op.rows[firstSource + 1]);
  uint32_t result = 0;
  TILE_LANE_LOOP
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result |= compareLane<R, T, Flush>(a[lane], b[lane]) ? 1u << lane : 0;
  return result;
}

// Op::a: 0 no combination, 1 and, 2 or, 3 xor with the third source.
uint32_t combine(Warp &warp, const Op &op, uint32_t value, unsigned source) {
  if (op.a == 0)
    return value;
  uint32_t other = warp.predicate(op.rows[source]);
  return op.a == 1 ? value & other : op.a == 2 ? value | other : value ^ other;
}

// setp p{|q}: p = (a R b) op c, q = !(a R b) op c.
template <Relation R, class T, bool Flush> void setPredicate(Warp &warp, const Op &op) {
  uint32_t value = compareRows<R, T, Flush>(warp, op, op.targets);
  mergeMask(warp.predicate(op.rows[0]), combine(warp, op, value, op.targets + 2u), warp.mask);
  if (op.targets == 2)
    mergeMask(warp.predicate(op.rows[1]), combine(warp, op, ~value, op.targets + 2u), warp.mask);
}

// set: all ones or, for a float target (Op::b), 1.0.
template <Relation R, class T, bool Flush> void setValue(Warp &warp, const Op &op) {
  uint32_t value = combine(warp, op, compareRows<R, T, Flush>(warp, op, 1), 3);
  uint32_t *target = warp.row<uint32_t>(op.rows[0]);
  forLanes(warp.mask, [&](unsigned lane) { target[lane] = value >> lane & 1 ? op.b : 0; });
}

// f16x2: one comparison for each half, each with its own predicate.
template <Relation R, class T, bool Flush> void setPredicatePacked(Warp &warp, const Op &op) {
  const uint32_t *a = warp.row<uint32_t>(op.rows[2]), *b = warp.row<uint32_t>(op.rows[3]);
  for (unsigned half = 0; half < 2; ++half) {
    uint32_t value = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      value |=
          compareLane<R, T, Flush>(a[lane] >> (16 * half), b[lane] >> (16 * half)) ? 1u << lane : 0;
    mergeMask(warp.predicate(op.rows[half]), combine(warp, op, value, 4), warp.mask);
  }
}

// f16x2: each half of the result is Op::b or zero.
template <Relation R, class T, bool Flush> void setValuePacked(Warp &warp, const Op &op) {
  const uint32_t *a = warp.row<uint32_t>(op.rows[1]), *b = warp.row<uint32_t>(op.rows[2]);
  uint32_t *target = warp.row<uint32_t>(op.rows[0]);
  uint32_t value[2] = {0, 0};
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      value[half] |=
          compareLane<R, T, Flush>(a[lane] >> (16 * half), b[lane] >> (16 * half)) ? 1u << lane : 0;
    value[half] = combine(warp, op, value[half], 3);
  }
  forLanes(warp.mask, [&](unsigned lane) {
    target[lane] = (value[0] >> lane & 1 ? op.b : 0) | (value[1] >> lane & 1 ? op.b << 16 : 0);
  });
}

struct CompareHandlers {
  Handler predicate = nullptr, value = nullptr;
};

template <Relation R, class T> CompareHandlers make(bool flushes) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, F16>)
    if (flushes)
      return {setPredicate<R, T, true>, setValue<R, T, true>};
  return {setPredicate<R, T, false>, setValue<R, T, false>};
}

template <Relation R> CompareHandlers forType(ScalarType type, bool flushes) {
  constexpr bool forIntegers = R <= Relation::Ge;
  switch (type) {
  case ScalarType::F16:
    return make<R, F16>(flushes);
  case ScalarType::BF16:
    return make<R, BF16>(false);
  case ScalarType::F32:
    return make<R, float>(flushes);
  case ScalarType::F64:
    return make<R, double>(false);
  case ScalarType::F16x2:
    return flushes
               ? CompareHandlers{setPredicatePacked<R, F16, true>, setValuePacked<R, F16, true>}
               : CompareHandlers{setPredicatePacked<R, F16, false>, setValuePacked<R, F16, false>};
  case ScalarType::BF16x2:
    return {setPredicatePacked<R, BF16, false>, setValuePacked<R, BF16, false>};
  default:
    break;
  }
  if constexpr (forIntegers)
    switch (type) {
    case ScalarType::U16:
    case ScalarType::B16:
      return make<R, uint16_t>(false);
    case ScalarType::U32:
    case ScalarType::B32:
      return make<R, uint32_t>(false);
    case ScalarType::U64:
    case ScalarType::B64:
      return make<R, uint64_t>(false);
    case ScalarType::S16:
      return make<R, int16_t>(false);
    case ScalarType::S32:
      return make<R, int32_t>(false);
    case ScalarType::S64:
      return make<R, int64_t>(false);
    default:
      break;
    }
  return {};
}

// The relation's suffix; lo, ls, hi, hs are the unsigned spellings.
CompareHandlers pickRelation(Suffixes &suffixes, ScalarType type, bool flushes) {
  using Make = CompareHandlers (*)(ScalarType, bool);
  static constexpr std::pair<std::string_view, Make> relations[] = {
      {"eq", forType<Relation::Eq>},   {"ne", forType<Relation::Ne>},
      {"lt", forType<Relation::Lt>},   {"le", forType<Relation::Le>},
      {"gt", forType<Relation::Gt>},   {"ge", forType<Relation::Ge>},
      {"lo", forType<Relation::Lt>},   {"ls", forType<Relation::Le>},
      {"hi", forType<Relation::Gt>},   {"hs", forType<Relation::Ge>},
      {"equ", forType<Relation::Equ>}, {"neu", forType<Relation::Neu>},
      {"ltu", forType<Relation::Ltu>}, {"leu", forType<Relation::Leu>},
      {"gtu", forType<Relation::Gtu>}, {"geu", forType<Relation::Geu>},
      {"num", forType<Relation::Num>}, {"nan", forType<Relation::Nan>}};
  for (auto [name, makeHandlers] : relations)
    if (suffixes.take(name))
      return makeHandlers(type, flushes);
  return {};
}

uint32_t takeCombination(Suffixes &suffixes) {
  std::string_view word = suffixes.takeOneOf({"and", "or", "xor"});
  return word == "and" ? 1 : word == "or" ? 2 : word == "xor" ? 3 : 0;
}

void decodeSetp(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  uint32_t combination = takeCombination(suffixes);
  ScalarType type = suffixes.takeType();
  bool flushes = suffixes.take("ftz");
  Handler handler = pickRelation(suffixes, type, flushes).predicate;
  if (!handler)
    decoder.unsupported("unknown comparison or type");
  decoder.wantOperands(instruction, combination ? 4 : 3);
  bool packed = type == ScalarType::F16x2 || type == ScalarType::BF16x2;
  std::vector<uint32_t> sources = {decoder.source(instruction.operands[1], type),
                                   decoder.source(instruction.operands[2], type)};
  if (combination)
    sources.push_back(decoder.predicate(instruction.operands[3]));
  const Operand &to = instruction.operands[0];
  std::vector<uint32_t> targets;
  if (to.kind == Operand::Kind::Pair)
    for (const Operand &part : to.parts)
      targets.push_back(decoder.target(part, ScalarType::Pred));
  else
    targets.push_back(decoder.target(to, ScalarType::Pred));
  if (packed && targets.size() != 2)
    decoder.malformed("a packed comparison needs two predicates, p|q");
  decoder.emitWide(handler, targets, sources, 0, combination);
}

// The result where the comparison holds; of packed halves, each half of it. 0: there is no such result.
uint32_t valueOfTrue(ScalarType result, ScalarType type) {
  bool packed = type == ScalarType::F16x2 || type == ScalarType::BF16x2;
  switch (result) {
  case ScalarType::U32:
  case ScalarType::S32:
    return packed ? 0xffffu : ~0u;
  case ScalarType::F16x2:
    return result == type ? 0x3c00u : 0;
  case ScalarType::BF16x2:
    return result == type ? 0x3f80u : 0;
  case ScalarType::F32:
    return packed ? 0 : 0x3f800000u;
  case ScalarType::U16:
  case ScalarType::S16:
    return packed ? 0 : 0xffffu;
  case ScalarType::F16:
    return packed ? 0 : 0x3c00u;
  case ScalarType::BF16:
    return packed ? 0 : 0x3f80u;
  default:
    return 0;
  }
}

void decodeSet(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  uint32_t combination = takeCombination(suffixes);
  ScalarType result = suffixes.takeType(), type = suffixes.takeType();
  bool flushes = suffixes.take("ftz");
  Handler handler = pickRelation(suffixes, type, flushes).value;
  uint32_t yes = valueOfTrue(result, type);
  if (!handler || !yes)
    decoder.unsupported("unknown comparison or type");
  decoder.wantOperands(instruction, combination ? 4 : 3);
  std::vector<uint32_t> sources = {decoder.source(instruction.operands[1], type),
                                   decoder.source(instruction.operands[2], type)};
  if (combination)
    sources.push_back(decoder.predicate(instruction.operands[3]));
  uint32_t target = decoder.target(instruction.operands[0], result);
  decoder.emitWide(handler, std::array{target}, sources, 0, combination, yes);
}

const std::initializer_list<Requirement> kSetpRequirements = {
    {"f16", 53, 42}, {"f16x2", 53, 42}, {"bf16", 90, 78}, {"bf16x2", 90, 78}};

const OpcodeInfo kOpcodes[] = {
    {.name = "setp",
     .decode = decodeSetp,
     .time = timeOfComparison,
     .kind = always<InstructionClass::Compare>,
     .forms = {{.where = "lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan",
                .never = "b16 b32 b64"},
               {.where = "lo ls hi hs", .needs = "u16 u32 u64"},
               {.where = "equ neu ltu leu gtu geu num nan",
                .needs = "f16 f16x2 bf16 bf16x2 f32 f64"},
               {.where = "ftz", .needs = "f16 f16x2 f32"}},
     .requirements = kSetpRequirements},
    {.name = "set",
     .decode = decodeSet,
     .time = timeOfComparison,
     .kind = always<InstructionClass::Compare>,
     .forms = {{.where = "lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan",
                .never = "b16 b32 b64"},
               {.where = "lo ls hi hs", .needs = "u16 u32 u64"},
               {.where = "bf16 bf16x2", .never = "f16 f16x2 f32 f64"}},
     .requirements = kSetpRequirements},
};

} // namespace

OpcodeRows compareOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
