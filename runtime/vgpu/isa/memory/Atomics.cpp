// atom and red: read-modify-write of global and shared memory, lane after lane.
//
// A block runs on one host thread, and kernels whose blocks meet in global atomics run their blocks one after the other,
// so a plain read and write is atomic, and the order is the same in every run.
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/isa/alu/AtomicForm.h"
#include "runtime/vgpu/isa/alu/FloatRules.h"
#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "runtime/vgpu/isa/alu/WideRegisters.h"
#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

template <class T> struct AddTo {
  static T apply(T old, T b, T) { return static_cast<T>(old + b); }
};
struct AddFloat {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    return std::bit_cast<uint32_t>(canonical(std::bit_cast<float>(old) + std::bit_cast<float>(b)));
  }
};
struct AddFloatFlushed { // global memory flushes subnormals to zero
  using InShared = AddFloat;
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    float sum = flush<true>(std::bit_cast<float>(old)) + flush<true>(std::bit_cast<float>(b));
    return std::bit_cast<uint32_t>(canonical(flush<true>(sum)));
  }
};
struct AddDoubleInShared {
  static uint64_t apply(uint64_t old, uint64_t b, uint64_t) {
    double value = std::bit_cast<double>(old);
    return std::bit_cast<uint64_t>(passNan(value + std::bit_cast<double>(b), value));
  }
};
struct AddDouble {
  using InShared = AddDoubleInShared;
  static uint64_t apply(uint64_t old, uint64_t b, uint64_t) {
    return std::bit_cast<uint64_t>(
        sumInMemory(std::bit_cast<double>(old), std::bit_cast<double>(b)));
  }
};
struct AddHalf {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) {
    return floatToHalf(halfToFloat(old) + halfToFloat(b));
  }
};
struct AddBfloat {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) {
    return floatToBfloat(bfloatToFloat(old) + bfloatToFloat(b));
  }
};
template <bool Maximum> struct ExtremeHalf {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) {
    float x = halfToFloat(old), y = halfToFloat(b);
    return floatToHalf(Maximum ? maximum<false>(x, y) : minimum<false>(x, y));
  }
};
template <bool Maximum> struct ExtremeBfloat {
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) {
    float x = bfloatToFloat(old), y = bfloatToFloat(b);
    return floatToBfloat(Maximum ? maximum<false>(x, y) : minimum<false>(x, y));
  }
};
template <class F> struct Pair {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    return F::apply(static_cast<uint16_t>(old), static_cast<uint16_t>(b), 0) |
           uint32_t{F::apply(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16), 0)}
               << 16;
  }
};
template <class T> struct MinOf {
  using U = std::make_unsigned_t<T>;
  static U apply(U old, U b, U) {
    return static_cast<U>(std::min(static_cast<T>(old), static_cast<T>(b)));
  }
};
template <class T> struct MaxOf {
  using U = std::make_unsigned_t<T>;
  static U apply(U old, U b, U) {
    return static_cast<U>(std::max(static_cast<T>(old), static_cast<T>(b)));
  }
};
struct Increment {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) { return old >= b ? 0 : old + 1; }
};
struct Decrement {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    return old == 0 || old > b ? b : old - 1;
  }
};
template <class T> struct And {
  static T apply(T old, T b, T) { return old & b; }
};
template <class T> struct Or {
  static T apply(T old, T b, T) { return old | b; }
};
template <class T> struct Xor {
  static T apply(T old, T b, T) { return old ^ b; }
};
template <class T> struct Exchange {
  static T apply(T, T b, T) { return b; }
};
template <class T> struct CompareAndSwap { // b: the expected value, c: the new one
  static T apply(T old, T b, T c) { return old == b ? c : old; }
};

// Shared memory may have a rule of its own, also where a generic address leads there.
template <class F, class T> T resultOf(Space space, T old, T b, T c) {
  if constexpr (requires { typename F::InShared; })
    if (space == Space::Shared)
      return F::InShared::apply(old, b, c);
  return F::apply(old, b, c);
}

template <class T>
void updateValidity(Warp &warp, const Op &op, const Access &access, unsigned first) {
  forLanes(access.mask, [&](unsigned lane) {
    uint64_t bit = 0;
    ValidBits *bits = validBits(warp, access.space, access.address[lane], lane, bit);
    bool good = (!bits || bits->get(bit, sizeof(T)) == (1u << sizeof(T)) - 1) ||
                formOf<AtomicForm>(op).isExchange;
    if (!good)
      warp.unwritten = {&op, access.space, access.address[lane]};
    for (unsigned i = first + 1; i < op.targets + op.sources; ++i)
      good &= warp.shadow.whole(op.rows[i]) >> lane & 1;
    if (!good && access.space == Space::Global)
      warp.report(op, FindingKind::Uninitialised, lane,
                  unwrittenText(warp, "an atomic operation on global memory"));
    if (bits)
      bits->set(bit, sizeof(T), good || access.space == Space::Global);
    if (op.targets)
      warp.shadow.set(op.rows[0], good ? kFullMask : 0, 1u << lane);
  });
}

// Rows: {old value,} address, b{, c}.
template <class T, class F> void atomic(Warp &warp, const Op &op) {
  unsigned first = op.targets;
  Access all;
  auto form = formOf<AtomicForm>(op);
  all.space = form.space;
  all.mask = warp.mask;
  all.bytes = sizeof(T);
  all.kind = form.kind();
  all.order = form.order;
  if (form.vectorBytes)
    all.countedBytes = form.element == 0 ? form.vectorBytes : 0;
  readAddresses(warp, op.rows[first], form.isWide, op.imm, all.address);
  if (warp.shadow)
    checkAddress(warp, op, op.rows[first]);
  const auto *b = warp.row<LaneOf<T>>(op.rows[first + 1]);
  const auto *c = warp.row<LaneOf<T>>(op.rows[first + op.sources - 1]);
  forSpaces(warp, op, all, [&](Access &access) {
    checkRaces(warp, op, access, 0);
    if (warp.shadow)
      updateValidity<T>(warp, op, access, first);
    bool changes = false;
    forLanes(access.mask, [&](unsigned lane) {
      T old, operandB = static_cast<T>(b[lane]), operandC = static_cast<T>(c[lane]);
      std::memcpy(&old, access.host[lane], sizeof(T));
      T result = resultOf<F>(access.space, old, operandB, operandC);
      std::memcpy(access.host[lane], &result, sizeof(T));
      changes |= result != old;
      if (op.targets)
        warp.row<LaneOf<T>>(op.rows[0])[lane] = old;
    });
    if (!changes) // a lock that is taken: whoever waits for it learns nothing new
      takeBackWrite(warp, access);
  });
}

struct Row {
  std::string_view operation;
  ScalarType type;
  Handler handler;
};

constexpr Row kRows[] = {
    {"add", ScalarType::U32, atomic<uint32_t, AddTo<uint32_t>>},
    {"add", ScalarType::S32, atomic<uint32_t, AddTo<uint32_t>>},
    {"add", ScalarType::U64, atomic<uint64_t, AddTo<uint64_t>>},
    {"add", ScalarType::S64, atomic<uint64_t, AddTo<uint64_t>>},
    {"add", ScalarType::F32, atomic<uint32_t, AddFloatFlushed>},
    {"add", ScalarType::F64, atomic<uint64_t, AddDouble>},
    {"add", ScalarType::F16, atomic<uint16_t, AddHalf>},
    {"add", ScalarType::BF16, atomic<uint16_t, AddBfloat>},
    {"add", ScalarType::F16x2, atomic<uint32_t, Pair<AddHalf>>},
    {"add", ScalarType::BF16x2, atomic<uint32_t, Pair<AddBfloat>>},
    {"min", ScalarType::U32, atomic<uint32_t, MinOf<uint32_t>>},
    {"min", ScalarType::S32, atomic<uint32_t, MinOf<int32_t>>},
    {"min", ScalarType::U64, atomic<uint64_t, MinOf<uint64_t>>},
    {"min", ScalarType::S64, atomic<uint64_t, MinOf<int64_t>>},
    {"max", ScalarType::U32, atomic<uint32_t, MaxOf<uint32_t>>},
    {"max", ScalarType::S32, atomic<uint32_t, MaxOf<int32_t>>},
    {"max", ScalarType::U64, atomic<uint64_t, MaxOf<uint64_t>>},
    {"max", ScalarType::S64, atomic<uint64_t, MaxOf<int64_t>>},
    {"inc", ScalarType::U32, atomic<uint32_t, Increment>},
    {"dec", ScalarType::U32, atomic<uint32_t, Decrement>},
    {"and", ScalarType::B32, atomic<uint32_t, And<uint32_t>>},
    {"and", ScalarType::B64, atomic<uint64_t, And<uint64_t>>},
    {"or", ScalarType::B32, atomic<uint32_t, Or<uint32_t>>},
    {"or", ScalarType::B64, atomic<uint64_t, Or<uint64_t>>},
    {"xor", ScalarType::B32, atomic<uint32_t, Xor<uint32_t>>},
    {"xor", ScalarType::B64, atomic<uint64_t, Xor<uint64_t>>},
    {"exch", ScalarType::B32, atomic<uint32_t, Exchange<uint32_t>>},
    {"exch", ScalarType::B64, atomic<uint64_t, Exchange<uint64_t>>},
    {"cas", ScalarType::B16, atomic<uint16_t, CompareAndSwap<uint16_t>>},
    {"cas", ScalarType::B32, atomic<uint32_t, CompareAndSwap<uint32_t>>},
    {"cas", ScalarType::B64, atomic<uint64_t, CompareAndSwap<uint64_t>>},
};

Handler pickHandler(std::string_view operation, ScalarType type) {
  for (const Row &row : kRows)
    if (row.operation == operation && row.type == type)
      return row.handler;
  return nullptr;
}

// Minimum and maximum of halves exist for vectors only.
constexpr Row kVectorRows[] = {
    {"min", ScalarType::F16, atomic<uint16_t, ExtremeHalf<false>>},
    {"max", ScalarType::F16, atomic<uint16_t, ExtremeHalf<true>>},
    {"min", ScalarType::BF16, atomic<uint16_t, ExtremeBfloat<false>>},
    {"max", ScalarType::BF16, atomic<uint16_t, ExtremeBfloat<true>>},
    {"min", ScalarType::F16x2, atomic<uint32_t, Pair<ExtremeHalf<false>>>},
    {"max", ScalarType::F16x2, atomic<uint32_t, Pair<ExtremeHalf<true>>>},
    {"min", ScalarType::BF16x2, atomic<uint32_t, Pair<ExtremeBfloat<false>>>},
    {"max", ScalarType::BF16x2, atomic<uint32_t, Pair<ExtremeBfloat<true>>>},
};

void checkVectorAlignment(Warp &warp, const Op &op) {
  auto form = formOf<AtomicForm>(op);
  uint64_t address[kLanes];
  readAddresses(warp, op.rows[0], form.isWide, op.imm, address);
  uint32_t wrong = 0;
  forLanes(warp.mask, [&](unsigned lane) {
    wrong |= uint32_t{address[lane] % form.vectorBytes != 0} << lane;
  });
  if (wrong)
    warp.stop(op, FindingKind::Misaligned, LaneMask{wrong},
              "the vector's address is not aligned to its " + std::to_string(form.vectorBytes) +
                  " bytes");
}

template <class T> void copyRow(Warp &warp, const Op &op) {
  forLanes(warp.mask,
           [&](unsigned lane) { warp.row<T>(op.rows[0])[lane] = warp.row<T>(op.rows[1])[lane]; });
}

Handler vectorHandler(std::string_view operation, ScalarType type, size_t elements) {
  if (type == ScalarType::F32)
    return operation == "add" && elements <= 4 ? pickHandler(operation, type) : nullptr;
  bool pairs = type == ScalarType::F16x2 || type == ScalarType::BF16x2;
  if (!pairs && type != ScalarType::F16 && type != ScalarType::BF16)
    return nullptr;
  if (pairs && elements > 4)
    return nullptr;
  for (const Row &row : kVectorRows)
    if (row.operation == operation && row.type == type)
      return row.handler;
  return operation == "add" ? pickHandler(operation, type) : nullptr;
}

// atom.global.v2.f32.add and its kin: each element is an atomic operation of its own.
struct VectorForm {
  std::string_view operation;
  ScalarType type;
  size_t elements;
  AtomicForm atomic;
  bool hasPolicy, returns;
};
void emitVectorAtomic(Decoder &decoder, const Instruction &instruction, const VectorForm &form) {
  bool returns = form.returns;
  Handler handler = vectorHandler(form.operation, form.type, form.elements);
  if (!handler)
    decoder.unsupported("this operation and type as a vector");
  decoder.wantOperandsAndPolicy(instruction, 2u + returns, form.hasPolicy);
  auto partsOf = [&](const Operand &operand) {
    if (operand.kind != Operand::Kind::Vector || operand.parts.size() != form.elements)
      decoder.malformed("expected a vector of " + std::to_string(form.elements) + " registers");
    return operand.parts;
  };
  std::vector<Operand> values = partsOf(instruction.operands[returns + 1]),
                       olds = returns ? partsOf(instruction.operands[0]) : std::vector<Operand>();
  std::vector<uint32_t> sources;
  for (const Operand &value : values)
    sources.push_back(decoder.source(value, form.type));
  Decoder::Address address = decoder.address(instruction.operands[returns]);
  uint32_t bytes = bytesOf(form.type);
  AtomicForm atomic = form.atomic;
  atomic.space = Space::Global;
  atomic.isWide = address.bytes == 8;
  atomic.vectorBytes = static_cast<uint8_t>(bytes * form.elements);
  decoder.emit(checkVectorAlignment, {}, {address.row}, address.offset, atomic, kOwnValidity);
  // Results go where they belong when all elements are done, since one may replace a value or the address.
  std::vector<uint32_t> results;
  for (size_t i = 0; i < form.elements; ++i) {
    atomic.element = static_cast<uint8_t>(i);
    std::vector<uint32_t> target;
    if (returns)
      target.push_back(results.emplace_back(decoder.temporary(4)));
    decoder.emitWide(handler, target, std::array{address.row, sources[i]},
                     address.offset + static_cast<int64_t>(i * bytes), atomic, kOwnValidity);
  }
  for (size_t i = 0; i < results.size(); ++i)
    decoder.emit(copyRow<uint32_t>, {decoder.target(olds[i], form.type)}, {results[i]});
}

// atom returns the old value, red nothing.
template <bool returns>
void decodeAtomic(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view order = suffixes.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  bool narrow = suffixes.takeOneOf({"cta", "cluster", "gpu", "sys"}) == "cta";
  Space space = Space::Generic;
  if (suffixes.take("global"))
    space = Space::Global;
  else if (suffixes.takeOneOf({"shared", "shared::cta", "shared::cluster"}).size())
    space = Space::Shared;
  std::string_view operation =
      suffixes.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
  suffixes.take("noftz");
  bool hasPolicy = suffixes.take("L2::cache_hint"); // changes speed only
  std::string_view vector = suffixes.takeOneOf({"v2", "v4", "v8"});
  ScalarType type = suffixes.takeType();
  // red reads nothing, so it never acquires.
  MemoryOrder meant = order == "acq_rel"   ? MemoryOrder::AcquireRelease
                      : order == "acquire" ? MemoryOrder::Acquire
                      : order == "release" ? MemoryOrder::Release
                                           : MemoryOrder::Relaxed;
  decoder.program().releases |= order == "release" || order == "acq_rel";
  AtomicForm atomic = {.space = space, .order = meant, .isNarrow = narrow};
  if (!vector.empty()) {
    if (space == Space::Shared)
      decoder.unsupported("vector atomics are of global memory");
    decoder.program().usesGlobalAtomics = true;
    emitVectorAtomic(
        decoder, instruction,
        {operation, type, static_cast<size_t>(vector[1] - '0'), atomic, hasPolicy, returns});
    return;
  }
  if (type == ScalarType::B128)
    return emitWideAtomic(decoder, instruction, {operation, atomic, hasPolicy, returns});
  bool isCas = operation == "cas";
  // exch, cas and the bit operations take signed and unsigned spellings as well.
  ScalarType bits = bytesOf(type) == 8   ? ScalarType::B64
                    : bytesOf(type) == 4 ? ScalarType::B32
                                         : type;
  Handler handler = pickHandler(operation, type);
  if (!handler && !isFloat(type))
    handler = pickHandler(operation, bits);
  if (!handler)
    decoder.unsupported("this operation and type");
  if (isCas && hasPolicy)
    decoder.malformed("cas takes no cache policy");
  size_t count = 2u + returns + isCas;
  decoder.wantOperandsAndPolicy(instruction, count, hasPolicy);
  std::vector<uint32_t> targets, sources;
  Decoder::Address address = decoder.address(instruction.operands[returns]);
  space = decoder.spaceOf(space, address);
  sources.push_back(address.row);
  for (size_t i = returns + 1; i < count; ++i)
    sources.push_back(decoder.source(instruction.operands[i], type));
  if (hasPolicy)
    decoder.source(instruction.operands[count], ScalarType::B64); // must be one, and is not read
  if (returns)
    targets.push_back(decoder.target(instruction.operands[0], type));
  if (space != Space::Shared)
    decoder.program().usesGlobalAtomics = true;
  atomic.space = space;
  atomic.isWide = address.bytes == 8;
  atomic.isExchange = operation == "exch";
  decoder.emitWide(handler, targets, sources, address.offset, atomic, kOwnValidity);
}

// The syntax of PTX ISA, as ptxas applies it.
const std::initializer_list<FormRule> kAtomicForms = {
    {.where = "exch", .needs = "b32 b64 b128"},
    {.where = "cas", .needs = "b16 b32 b64 b128"},
    {.where = "and or xor", .needs = "b32 b64"},
    {.where = "add", .never = "s64"},
    {.never = "acquire acq_rel", .of = "red"},
    {.where = "noftz", .needs = "f16 f16x2 bf16 bf16x2"},
    {.where = "f16 f16x2 bf16 bf16x2", .needs = "noftz"},
    {.where = "async", .needs = "relaxed", .of = "red"},
    {.where = "async", .needs = "cluster", .of = "red"},
    {.where = "L2::cache_hint", .never = TILE_SHARED}};

const std::initializer_list<FormOrder> kAtomOrders = {
    {"async > relaxed acquire release acq_rel" TILE_SCOPE_LIST "global " TILE_SHARED
     " | mbarrier::* | "
     "add exch cas min max inc dec and or xor"
     " | noftz" TILE_HINT_LIST TILE_VECTOR_LIST TILE_TYPES}};

TimeForm timeOfAtomic(const Instruction &instruction) {
  bool isShared = classBySpace(instruction) == InstructionClass::SharedMemory;
  bool returns = instruction.opcode == "atom";
  return {.kind = isShared  ? returns ? TimeKind::LoadShared : TimeKind::StoreShared
                  : returns ? TimeKind::AtomicGlobal
                            : TimeKind::ReduceGlobal,
          .cost = Cost::Issue,
          .pipe = Pipe::Memory,
          .bytes = static_cast<uint8_t>(accessBytes(instruction)),
          .makesFloats = true};
}

const OpcodeInfo kOpcodes[] = {
    {.name = "atom",
     .decode = decodeAtomic<true>,
     .time = timeOfAtomic,
     .kind = always<InstructionClass::Atomic>,
     .forms = kAtomicForms,
     .orders = kAtomOrders,
     .requirements = {{"relaxed", 70, 60},
                      {"acquire", 70, 60},
                      {"release", 70, 60},
                      {"acq_rel", 70, 60},
                      {"cluster", 90, 78},
                      {"shared::cta", 0, 78},
                      {"shared::cluster", 90, 78},
                      {"L2::cache_hint", 80, 74},
                      {"f64", 60, 50},
                      {"f16", 70, 63},
                      {"f16x2", 60, 62},
                      {"bf16", 90, 78},
                      {"bf16x2", 90, 78},
                      {"cas.b16", 70, 63},
                      {"v2", 90, 81},
                      {"v4", 90, 81},
                      {"v8", 90, 81},
                      {"b128", 90, 83}}},
    {.name = "red",
     .decode = decodeAtomic<false>,
     .time = timeOfAtomic,
     .kind = unlessAsync<always<InstructionClass::Atomic>>,
     .forms = kAtomicForms,
     .orders = kAtomOrders,
     .requirements = {{"relaxed", 70, 60},
                      {"release", 70, 60},
                      {"async", 90, 81},
                      {"cluster", 90, 78},
                      {"shared::cta", 0, 78},
                      {"shared::cluster", 90, 78},
                      {"L2::cache_hint", 80, 74},
                      {"f64", 60, 50},
                      {"f16", 70, 63},
                      {"f16x2", 60, 62},
                      {"bf16", 90, 78},
                      {"bf16x2", 90, 78},
                      {"v2", 90, 81},
                      {"v4", 90, 81},
                      {"v8", 90, 81}}},
};

} // namespace

OpcodeRows atomicsOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
