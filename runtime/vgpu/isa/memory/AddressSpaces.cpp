// cvta, isspacep and prefetch: addresses without access.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/SharedAddress.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

namespace tile::vgpu {
namespace {

struct AddOffset {
  uint64_t operator()(uint64_t address, uint64_t base) const { return address + base; }
};
struct SubtractOffset {
  uint64_t operator()(uint64_t address, uint64_t base) const { return address - base; }
};

// A variable's name is its address in its own space.
void checkSymbol(const Decoder &decoder, const Operand &symbol, std::string_view space,
                 bool toSpace) {
  if (!symbol.variable)
    return;
  std::string_view own = nameOf(symbol.variable->space);
  if (toSpace || space.substr(0, space.find(':')) != own)
    decoder.malformed("'" + std::string(symbol.name) + "' is an address of ." + std::string(own) +
                      " memory");
}

void decodeCvta(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool toSpace = suffixes.take("to");
  std::string_view space = suffixes.takeOneOf({"global", "shared", "shared::cta", "shared::cluster",
                                               "local", "const", "param", "param::entry"});
  if (space.empty() || suffixes.takeType() != ScalarType::U64)
    decoder.unsupported("expected cvta{.to}.global, .shared, .local, .const or .param with .u64");
  decoder.wantOperands(instruction, 2);
  uint64_t base = space.starts_with("shared")  ? kSharedWindow
                  : space == "local"           ? kLocalWindow
                  : space.starts_with("param") ? kParamWindow
                                               : 0;
  if (instruction.operands[1].kind == Operand::Kind::Symbol)
    checkSymbol(decoder, instruction.operands[1], space, toSpace);
  uint32_t target = decoder.target(instruction.operands[0], ScalarType::U64);
  uint32_t source = decoder.source(instruction.operands[1], ScalarType::U64);
  decoder.emit(toSpace ? laneOp<SubtractOffset, uint64_t, uint64_t, uint64_t>
                       : laneOp<AddOffset, uint64_t, uint64_t, uint64_t>,
               {target}, {source, decoder.constant(base, 8)});
}

// A block's own shared memory.
void testOwnShared(Warp &warp, const Op &op) {
  const uint64_t *address = warp.row<uint64_t>(op.rows[1]);
  uint32_t result = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint64_t rank = (address[lane] - kSharedWindow) >> kRankShift;
    result |= uint32_t{rank == warp.cta->rank} << lane;
  }
  mergeMask(warp.predicate(op.rows[0]), result, warp.mask);
}

template <uint64_t Window> struct InWindow {
  bool operator()(uint64_t address) const { return address - Window < (uint64_t{1} << 40); }
};
template <class Test> void testSpace(Warp &warp, const Op &op) {
  const uint64_t *address = warp.row<uint64_t>(op.rows[1]);
  uint32_t result = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result |= uint32_t{Test{}(address[lane])} << lane;
  mergeMask(warp.predicate(op.rows[0]), result, warp.mask);
}

// Constants lie among the global variables. Op::a: 1 asks for them, 0 for the others.
void testGlobal(Warp &warp, const Op &op) {
  const uint64_t *address = warp.row<uint64_t>(op.rows[1]);
  uint32_t result = 0;
  forLanes(warp.mask, [&](unsigned lane) {
    bool isConstant = false;
    for (auto [begin, end] : warp.cta->launch->program().constRanges)
      isConstant |= address[lane] >= begin && address[lane] < end;
    result |= uint32_t{op.a ? isConstant : address[lane] < kParamWindow && !isConstant} << lane;
  });
  mergeMask(warp.predicate(op.rows[0]), result, warp.mask);
}

void findConstants(Decoder &decoder) {
  Program &program = decoder.program();
  if (!program.constRanges.empty() || !decoder.options().globalAddress)
    return;
  for (const auto &[name, variable] : program.module->globals)
    if (variable->space == Space::Const)
      if (uint64_t begin = decoder.options().globalAddress(name))
        program.constRanges.emplace_back(begin, begin + variable->bytes);
}

void decodeIsSpace(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view space = suffixes.takeOneOf({"global", "shared", "shared::cta", "shared::cluster",
                                               "local", "const", "param", "param::entry"});
  decoder.wantOperands(instruction, 2);
  bool isConst = space == "const";
  if (isConst || space == "global")
    findConstants(decoder);
  Handler handler = space == "shared::cluster"    ? testSpace<InWindow<kSharedWindow>>
                    : space.starts_with("shared") ? testOwnShared
                    : space == "local"            ? testSpace<InWindow<kLocalWindow>>
                    : space.starts_with("param")  ? testSpace<InWindow<kParamWindow>>
                    : !space.empty()              ? testGlobal
                                                  : nullptr;
  if (!handler)
    decoder.unsupported("expected isspacep.global, .shared, .local, .const or .param");
  decoder.emit(handler, {decoder.target(instruction.operands[0], ScalarType::Pred)},
               {decoder.source(instruction.operands[1], ScalarType::U64)}, 0, isConst);
}

// Prefetches change speed only and never fault.
void decodePrefetch(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("tensormap")) {
    suffixes.takeOneOf({"param", "const"});
    decoder.wantOperands(instruction, 1);
    return;
  }
  suffixes.take("global");
  if (suffixes.takePrefix("L1").empty() && suffixes.takePrefix("L2").empty())
    decoder.unsupported("expected prefetch{.global}.L1 or .L2");
}

const OpcodeInfo kOpcodes[] = {
    {.name = "cvta",
     .decode = decodeCvta,
     .time = alwaysCosts<Cost::Free>,
     .kind = always<InstructionClass::Convert>,
     .orders = {{"to > " TILE_SPACES " | u32 u64"}},
     .requirements = {{"param", 70, 77}, {"shared::cta", 0, 78}, {"shared::cluster", 90, 78}}},
    {.name = "isspacep",
     .decode = decodeIsSpace,
     .time = alwaysCosts<Cost::Compare>,
     .kind = always<InstructionClass::Move>,
     .requirements = {{"param", 70, 77},
                      {"param::entry", 70, 83},
                      {"shared::cta", 0, 78},
                      {"shared::cluster", 90, 78}}},
    {.name = "prefetch",
     .decode = decodePrefetch,
     .time = alwaysCosts<Cost::Issue>,
     .kind = classBySpace,
     .requirements = {{"L2::evict_last", 80, 74},
                      {"L2::evict_normal", 80, 74},
                      {"tensormap", 90, 80}}},
    {.name = "prefetchu",
     .decode = decodePrefetch,
     .time = alwaysCosts<Cost::Issue>,
     .kind = classBySpace},
};

} // namespace

OpcodeRows addressSpacesOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
