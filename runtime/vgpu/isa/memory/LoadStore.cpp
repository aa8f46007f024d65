// ld and st: the plain memory instructions, in every state space.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/isa/memory/LaneVectors.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"
#include "runtime/vgpu/machine/access/SharedAddress.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

namespace tile::vgpu {
namespace {

struct AccessForm {
  Space space = Space::Generic;
  MemoryOrder order = MemoryOrder::Relaxed;
  bool isWide = false;                     // the address has 64 bits
  bool isStrong = false, isNarrow = false; // of the scope of the block

  AccessKind kind(AccessKind weak, AccessKind strong, AccessKind narrow) const {
    return !isStrong ? weak : isNarrow ? narrow : strong;
  }
};

void beginAccess(Warp &warp, const Op &op, uint32_t addressRow, Access &access) {
  auto form = formOf<AccessForm>(op);
  access.space = form.space;
  access.mask = warp.mask;
  access.order = form.order;
  readAddresses(warp, addressRow, form.isWide, op.imm, access.address);
  if (warp.shadow)
    checkAddress(warp, op, addressRow);
}

bool isChecked(Space space) { return space == Space::Shared || space == Space::Global; }

// True if the lanes' ranges ascend without overlap.
bool areApart(const Access &access) {
  uint64_t end = 0;
  bool apart = true;
  forLanes(access.mask, [&](unsigned lane) {
    apart &= access.address[lane] >= end;
    end = access.address[lane] + access.bytes;
  });
  return apart;
}

// The bits of a T whose bytes, one bit each in `bytes`, are initialised that are not.
template <class T> T undefinedBits(uint32_t bytes) {
  T undefined = 0;
  for (unsigned i = 0; i < sizeof(T); ++i)
    if (!(bytes >> i & 1))
      undefined |= static_cast<T>(uint64_t{0xff} << (8 * i));
  return undefined;
}

// The bytes of all lanes as one range of a map of initialised bytes; null if they are not one.
ValidBits *rangeOfLanes(Warp &warp, const Access &access, uint64_t &begin) {
  if (!isChecked(access.space) || !isConsecutive(access))
    return nullptr;
  return validBits(warp, access.space, access.address[0], 0, begin);
}

template <class T> void loadShadow(Warp &warp, const Op &op, const Access &access) {
  uint64_t begin = 0;
  if (ValidBits *range = rangeOfLanes(warp, access, begin);
      range && range->holdsRange(begin, uint64_t{kLanes} * access.bytes)) {
    for (unsigned element = 0; element < op.targets; ++element)
      warp.shadow.set(op.rows[element], kFullMask, kFullMask);
    return;
  }
  constexpr uint32_t all = (1u << sizeof(T)) - 1;
  bool isWritten = true; // so far
  for (unsigned element = 0; element < op.targets; ++element)
    forLanes(access.mask, [&](unsigned lane) {
      uint64_t bit = 0;
      ValidBits *bits =
          validBits(warp, access.space, access.address[lane] + element * sizeof(T), lane, bit);
      uint32_t bytes = bits ? bits->get(bit, sizeof(T)) : all;
      if (bytes != all && isWritten)
        warp.unwritten = {&op, access.space, access.address[lane] + element * sizeof(T)};
      isWritten &= bytes == all;
      warp.shadow.setUndefined(op.rows[element], lane,
                               bytes == all ? LaneOf<T>{0} : toLane<T>(undefinedBits<T>(bytes)));
    });
}

template <class T> void load(Warp &warp, const Op &op) {
  Access all;
  beginAccess(warp, op, op.rows[op.targets], all);
  all.bytes = op.targets * static_cast<uint32_t>(sizeof(T));
  all.kind =
      formOf<AccessForm>(op).kind(AccessKind::Read, AccessKind::StrongRead, AccessKind::NarrowRead);
  forSpaces(warp, op, all, [&](Access &access) {
    checkRaces(warp, op, access, 0);
    if (warp.shadow)
      loadShadow<T>(warp, op, access);
    if (loadAllLanes<T>(warp, op, access))
      return;
    for (unsigned element = 0; element < op.targets; ++element) {
      LaneOf<T> *target = warp.row<LaneOf<T>>(op.rows[element]);
      forLanes(access.mask, [&](unsigned lane) {
        T value;
        std::memcpy(&value, access.host[lane] + element * sizeof(T), sizeof(T));
        target[lane] = toLane<T>(value);
      });
    }
  });
}

// A parameter of the kernel by its name: one value for all lanes. Op::imm: where it is, known to be inside.
template <class T> void loadParameter(Warp &warp, const Op &op) {
  const uint8_t *source = warp.cta->launch->params().data() + op.imm;
  for (unsigned element = 0; element < op.targets; ++element) {
    T value;
    std::memcpy(&value, source + element * sizeof(T), sizeof(T));
    LaneOf<T> *target = warp.row<LaneOf<T>>(op.rows[element]), bits = toLane<T>(value);
    TILE_LANE_LOOP
    for (unsigned lane = 0; lane < kLanes; ++lane)
      target[lane] = warp.mask >> lane & 1 ? bits : target[lane];
    if (warp.shadow)
      warp.shadow.set(op.rows[element], kFullMask, warp.mask);
  }
}

// True if all that is stored is initialised and one range, which then is marked.
bool storeWholeShadow(Warp &warp, const Op &op, const Access &access, unsigned elements) {
  uint64_t begin = 0;
  ValidBits *range = rangeOfLanes(warp, access, begin);
  for (unsigned element = 0; range && element < elements; ++element)
    if (warp.shadow.whole(op.rows[element]) != kFullMask)
      return false;
  if (range)
    range->setRange(begin, uint64_t{kLanes} * access.bytes, true);
  return range;
}

template <class T>
void storeShadow(Warp &warp, const Op &op, const Access &access, unsigned element) {
  uint32_t partly = 0;
  forLanes(access.mask, [&](unsigned lane) {
    T undefined = static_cast<T>(warp.shadow.undefined<LaneOf<T>>(op.rows[element], lane));
    partly |= uint32_t{undefined != 0} << lane;
    uint64_t bit = 0;
    ValidBits *bits =
        validBits(warp, access.space, access.address[lane] + element * sizeof(T), lane, bit);
    if (!bits)
      return;
    bits->set(bit, sizeof(T), true);
    if (undefined && access.space != Space::Global)
      for (unsigned i = 0; i < sizeof(T); ++i)
        if (undefined >> (8 * i) & 0xff)
          bits->set(bit + i, 1, false);
  });
  if (partly && access.space == Space::Global)
    warp.report(op, FindingKind::Uninitialised, LaneMask{partly},
                unwrittenText(warp, "a value stored to global memory"));
}

// Rows: the elements, then the address.
template <class T> void store(Warp &warp, const Op &op) {
  Access all;
  unsigned elements = op.sources - 1u;
  beginAccess(warp, op, op.rows[elements], all);
  all.bytes = elements * static_cast<uint32_t>(sizeof(T));
  all.kind = formOf<AccessForm>(op).kind(AccessKind::Write, AccessKind::StrongWrite,
                                         AccessKind::NarrowWrite);
  forSpaces(warp, op, all, [&](Access &access) {
    // Lanes that may overlap go one by one, so that they are checked against each other.
    bool racy = warp.cta->races && isChecked(access.space);
    if (racy && areApart(access))
      checkRaces(warp, op, access, unchangedLanes<T>(warp, op, access)), racy = false;
    uint32_t lanes = access.mask;
    if (racy || !storeAllLanes<T>(warp, op, access))
      forLanes(lanes, [&](unsigned lane) {
        if (racy) {
          access.mask = 1u << lane;
          checkRaces(warp, op, access, unchangedLanes<T>(warp, op, access));
        }
        for (unsigned element = 0; element < elements; ++element) {
          T value = static_cast<T>(warp.row<LaneOf<T>>(op.rows[element])[lane]);
          std::memcpy(access.host[lane] + element * sizeof(T), &value, sizeof(T));
        }
      });
    access.mask = lanes;
    if (warp.shadow && !storeWholeShadow(warp, op, access, elements))
      for (unsigned element = 0; element < elements; ++element)
        storeShadow<T>(warp, op, access, element);
  });
}

Handler loadHandler(ScalarType type) {
  bool extendsSign = isSigned(type);
  switch (bytesOf(type)) {
  case 1:
    return extendsSign ? load<int8_t> : load<uint8_t>;
  case 2:
    return extendsSign ? load<int16_t> : load<uint16_t>;
  case 4:
    return load<uint32_t>;
  case 8:
    return load<uint64_t>;
  }
  return nullptr;
}

Handler parameterHandler(ScalarType type) {
  bool extendsSign = isSigned(type);
  switch (bytesOf(type)) {
  case 1:
    return extendsSign ? loadParameter<int8_t> : loadParameter<uint8_t>;
  case 2:
    return extendsSign ? loadParameter<int16_t> : loadParameter<uint16_t>;
  case 4:
    return loadParameter<uint32_t>;
  case 8:
    return loadParameter<uint64_t>;
  }
  return nullptr;
}

Handler storeHandler(ScalarType type) {
  switch (bytesOf(type)) {
  case 1:
    return store<uint8_t>;
  case 2:
    return store<uint16_t>;
  case 4:
    return store<uint32_t>;
  case 8:
    return store<uint64_t>;
  }
  return nullptr;
}

struct MemoryForm {
  Space space = Space::Generic;
  bool strong = false, narrow = false;
  MemoryOrder order = MemoryOrder::Relaxed;
  size_t elements = 1;
  ScalarType type = ScalarType::None;
  bool isWide = false; // one .b128 register, whose halves are the elements
  bool hasPolicy = false;
};

// The suffixes ld and st share. Cache and eviction hints change speed only.
MemoryForm takeMemoryForm(Decoder &decoder, Suffixes &suffixes) {
  MemoryForm form;
  std::string_view order = suffixes.takeOneOf({"volatile", "acquire", "release", "mmio"});
  form.strong = suffixes.take("relaxed") || !order.empty();
  form.order = order == "acquire"   ? MemoryOrder::Acquire
               : order == "release" ? MemoryOrder::Release
                                    : MemoryOrder::Relaxed;
  decoder.program().releases |= order == "release";
  suffixes.take("weak");
  if (form.strong)
    form.narrow = suffixes.takeOneOf({"cta", "cluster", "gpu", "sys"}) == "cta";
  static constexpr std::pair<std::string_view, Space> spaces[] = {
      {"global", Space::Global},
      {"shared", Space::Shared},
      {"local", Space::Local},
      {"param", Space::Param},
      {"const", Space::Global},
      {"shared::cta", Space::Shared},
      {"shared::cluster", Space::Shared},
      {"param::func", Space::Param},
      {"param::entry", Space::Param}};
  for (auto [name, space] : spaces)
    if (suffixes.take(name))
      form.space = space;
  suffixes.take("nc");
  suffixes.takeOneOf({"ca", "cg", "cs", "cv", "lu", "wb", "wt"});
  form.hasPolicy = suffixes.take("L2::cache_hint");
  while (suffixes.takePrefix("L1::").size() || suffixes.takePrefix("L2::").size()) {
  }
  std::string_view vector = suffixes.takeOneOf({"v2", "v4", "v8"});
  form.elements = vector.empty() ? 1 : static_cast<size_t>(vector[1] - '0');
  form.type = suffixes.takeType();
  if (form.type == ScalarType::None || form.type == ScalarType::Pred)
    decoder.unsupported("a type of 8 to 128 bits is needed");
  if (form.type == ScalarType::B128) {
    if (form.elements != 1)
      decoder.unsupported("a vector of .b128");
    form.isWide = true;
    form.elements = 2;
    form.type = ScalarType::B64;
  }
  if (form.elements * bytesOf(form.type) > 32)
    decoder.malformed("vectors are at most 32 bytes long");
  return form;
}

std::vector<Operand> elementsOf(Decoder &decoder, const Operand &operand, size_t count) {
  if (operand.kind != Operand::Kind::Vector) {
    if (count != 1)
      decoder.malformed("expected a vector of " + std::to_string(count) + " registers");
    return {operand};
  }
  if (operand.parts.size() != count)
    decoder.malformed("expected " + std::to_string(count) + " elements, found " +
                      std::to_string(operand.parts.size()));
  return operand.parts;
}

// Strong accesses outside the block's own memory are how blocks talk to each other.
void noteCommunication(Decoder &decoder, const AccessForm &access) {
  if (access.isStrong && access.space != Space::Shared && access.space != Space::Local)
    decoder.program().usesGlobalAtomics = true;
}

AccessForm accessFormOf(const Decoder &decoder, const MemoryForm &form,
                        const Decoder::Address &address) {
  Space space = decoder.spaceOf(form.space, address);
  return {.space = space == Space::Const ? Space::Global : space,
          .order = form.order,
          .isWide = address.bytes == 8,
          .isStrong = form.strong,
          .isNarrow = form.narrow};
}

void decodeLoad(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  MemoryForm form = takeMemoryForm(decoder, suffixes);
  decoder.wantOperandsAndPolicy(instruction, 2, form.hasPolicy);
  std::vector<uint32_t> targets;
  if (form.isWide)
    std::ranges::copy(decoder.halves(instruction.operands[0]), std::back_inserter(targets));
  else
    for (const Operand &element : elementsOf(decoder, instruction.operands[0], form.elements))
      targets.push_back(decoder.target(element, form.type));
  Decoder::Address address = decoder.address(instruction.operands[1]);
  AccessForm access = accessFormOf(decoder, form, address);
  noteCommunication(decoder, access);
  uint64_t bytes = form.elements * bytesOf(form.type), end = decoder.program().paramBytes;
  if (access.space == Space::Param && address.always && bytes <= end &&
      *address.always <= end - bytes && *address.always % bytes == 0) {
    decoder.emitWide(parameterHandler(form.type), targets, {},
                     static_cast<int64_t>(*address.always), 0, 0, kOwnValidity);
    return;
  }
  decoder.emitWide(loadHandler(form.type), targets, std::array{address.row}, address.offset, access,
                   kOwnValidity);
}

void decodeStore(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  MemoryForm form = takeMemoryForm(decoder, suffixes);
  decoder.wantOperandsAndPolicy(instruction, 2, form.hasPolicy);
  std::vector<uint32_t> sources;
  if (form.isWide)
    std::ranges::copy(decoder.halves(instruction.operands[1]), std::back_inserter(sources));
  else
    for (const Operand &element : elementsOf(decoder, instruction.operands[1], form.elements))
      sources.push_back(decoder.source(element, form.type));
  Decoder::Address address = decoder.address(instruction.operands[0]);
  sources.push_back(address.row);
  AccessForm access = accessFormOf(decoder, form, address);
  noteCommunication(decoder, access);
  decoder.emitWide(storeHandler(form.type), {}, sources, address.offset, access, kOwnValidity);
}

// The syntax of PTX ISA, as ptxas applies it.
const std::initializer_list<FormRule> kAccessForms = {
    {.where = "relaxed acquire release", .needs = TILE_SCOPES, .never = TILE_PRIVATE},
    {.where = TILE_SCOPES, .needs = "relaxed acquire release"},
    {.where = "volatile", .never = TILE_PRIVATE},
    {.where = "mmio",
     .needs = "relaxed",
     .never = TILE_SHARED " v2 v4 v8 cta cluster gpu L1::* L2::*"},
    {.where = "L1::* L2::*", .never = TILE_SHARED " " TILE_PRIVATE},
    {.where = "L2::evict_*", .needs = "v4 v8"},
    {.never = "f16 f16x2 bf16 bf16x2 tf32"},
    {.never = "release wb wt", .of = "ld"},
    {.where = "nc", .needs = "global", .never = "relaxed acquire volatile mmio weak", .of = "ld"},
    {.where = "weak", .never = "relaxed acquire release mmio"},
    {.never = "acquire const nc ca lu cv L2::64B L2::128B L2::256B", .of = "st"}};

const std::initializer_list<FormOrder> kLdOrders = {
    {"weak volatile mmio | relaxed acquire" TILE_SCOPE_LIST TILE_SPACES
     " | ca cg cs lu cv | nc | L1::* | L2::evict_*" TILE_HINT_LIST
     "L2::64B L2::128B L2::256B" TILE_VECTOR_LIST TILE_TYPES}};

// Parameters come with the constants: they cost nothing. Generic accesses are taken for global
// ones.
template <TimeKind global, TimeKind shared> TimeForm timeOfAccess(const Instruction &instruction) {
  InstructionClass space = classBySpace(instruction);
  if (space == InstructionClass::ParamMemory)
    return {.cost = Cost::Free};
  unsigned bytes = accessBytes(instruction);
  bool passesL1 = hasWord(instruction, "L1::no_allocate") || hasWord(instruction, "cg") ||
                  hasWord(instruction, "volatile") || hasWord(instruction, "relaxed") ||
                  hasWord(instruction, "acquire");
  bool isShared = space == InstructionClass::SharedMemory;
  // One integer a lane may be an index that decides something; vectors and floats are data.
  bool isVector = bytes > widthOf(instruction) / 8;
  bool isData = isVector || classByType(instruction) == InstructionClass::Float;
  return {.kind = isShared ? shared : global,
          .cost = Cost::Issue,
          .pipe = Pipe::Memory,
          .bytes = static_cast<uint8_t>(bytes),
          .flag = passesL1,
          .makesFloats = !isShared || isData};
}

const OpcodeInfo kOpcodes[] = {
    {.name = "ld",
     .decode = decodeLoad,
     .time = timeOfAccess<TimeKind::LoadGlobal, TimeKind::LoadShared>,
     .kind = classBySpace,
     .forms = kAccessForms,
     .orders = kLdOrders,
     .requirements = {{"relaxed", 70, 60},
                      {"acquire", 70, 60},
                      {"mmio", 70, 82},
                      {"cluster", 90, 78},
                      {"shared::cta", 0, 78},
                      {"shared::cluster", 90, 78},
                      {"param::entry", 0, 83},
                      {"param::func", 0, 83},
                      {"L1::evict_normal", 70, 74},
                      {"L1::evict_unchanged", 70, 74},
                      {"L1::evict_first", 70, 74},
                      {"L1::evict_last", 70, 74},
                      {"L1::no_allocate", 70, 74},
                      {"L2::64B", 75, 74},
                      {"L2::128B", 75, 74},
                      {"L2::256B", 80, 74},
                      {"L2::cache_hint", 80, 74},
                      {"b128", 70, 83},
                      {"sys.b128", 70, 84}},
     .takesWiderRegisters = true},
    {.name = "ldu",
     .decode = decodeLoad,
     .time = timeOfAccess<TimeKind::LoadGlobal, TimeKind::LoadShared>,
     .kind = classBySpace,
     .forms = {{.never = TILE_SHARED " " TILE_PRIVATE}},
     .orders = kLdOrders,
     .takesWiderRegisters = true},
    {.name = "st",
     .decode = decodeStore,
     .time = timeOfAccess<TimeKind::StoreGlobal, TimeKind::StoreShared>,
     .kind = unlessAsync<classBySpace>,
     .forms = kAccessForms,
     .orders = {{"async bulk > weak volatile mmio | relaxed release" TILE_SCOPE_LIST TILE_SPACES
                 " | wb cg cs wt | L1::* | L2::evict_* | mbarrier::*" TILE_HINT_LIST
                     TILE_VECTOR_LIST TILE_TYPES}},
     .requirements = {{"relaxed", 70, 60},
                      {"release", 70, 60},
                      {"mmio", 70, 82},
                      {"async", 90, 81},
                      {"cluster", 90, 78},
                      {"shared::cta", 0, 78},
                      {"shared::cluster", 90, 78},
                      {"param::func", 0, 83},
                      {"L1::evict_normal", 70, 74},
                      {"L1::evict_unchanged", 70, 74},
                      {"L1::evict_first", 70, 74},
                      {"L1::evict_last", 70, 74},
                      {"L1::no_allocate", 70, 74},
                      {"L2::cache_hint", 80, 74},
                      {"b128", 70, 83},
                      {"sys.b128", 70, 84}},
     .takesWiderRegisters = true},
};

} // namespace

OpcodeRows loadStoreOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
