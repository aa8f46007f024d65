// Reading maps; tensormap.replace and tensormap.cp_fenceproxy.
#include "runtime/vgpu/isa/async/TensorMapMemory.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr uint32_t kMapBytes = device::kTensorMapBytes;

// The bytes of a map in global memory if all of it lies in an allocation seen lately, else null; an access for the checkers.
uint8_t *mapBytesFoundLately(Warp &warp, const Op &op, unsigned lane, uint64_t address,
                             AccessKind kind) {
  if (address % 64 || !warp.cta->recent.hold(address, address, kMapBytes))
    return nullptr;
  if (GlobalRaces *races = warp.cta->cluster->globalRaces)
    races->access(accessorOf(warp, op, lane, kind), address, kMapBytes, false);
  return warp.cta->launch->memory().host(address, kMapBytes);
}

// The bytes of a map at an address of any space; an access for the checkers.
uint8_t *mapBytes(Warp &warp, const Op &op, unsigned lane, Space space, uint64_t address,
                  AccessKind kind) {
  if (uint8_t *bytes = mapBytesFoundLately(warp, op, lane, address, kind))
    return bytes;
  Access all;
  all.space = space;
  all.mask = 1u << lane;
  all.kind = kind;
  all.bytes = 16; // alignment of what follows is checked here, the rest by bounds
  if (address % 64)
    warp.stop(op, FindingKind::Misaligned, lane, "a tensor map must be aligned to 64 bytes");
  uint8_t *bytes = nullptr;
  for (uint32_t at = 0; at < kMapBytes; at += all.bytes) {
    Access part = all;
    part.address[lane] = address + at;
    forSpaces(warp, op, part, [&](Access &access) {
      checkRaces(warp, op, access, 0);
      bytes = at ? bytes : access.host[lane];
    });
  }
  return bytes;
}

} // namespace

// Whether the warp acquired this change itself, or is ordered after a warp of its block that did: the fence need only
// lie on the way from the change to the use.
static bool knowsOfChange(const Warp &warp, uint64_t address, uint64_t change) {
  return std::ranges::any_of(warp.cta->warps, [&](const Warp &other) {
    auto acquired = other.acquiredMaps.find(address);
    return acquired != other.acquiredMaps.end() && acquired->second.change == change &&
           warp.clock.current.own.ordered.at(other.clock.actor) >= acquired->second.time;
  });
}

// A change is seen by copies that follow an acquire of it after the changer's release.
static void checkFences(Warp &warp, const Op &op, unsigned lane, uint64_t address) {
  const ChangedMaps &changed = warp.cta->launch->changedMaps();
  auto map = changed.find(address);
  if (map == changed.end() || !warp.cta->launch->checks().async)
    return;
  bool isAcquired = knowsOfChange(warp, address, map->second.changes);
  if (map->second.isReleased && isAcquired)
    return;
  warp.report(op, FindingKind::Async, lane,
              std::string("uses a tensor map that the kernel has changed, without ") +
                  (map->second.isReleased
                       ? "fence.proxy.tensormap::generic.acquire of it since"
                       : "fence.proxy.tensormap::generic.release by the warp that changed it"));
}

TensorMapParams tensorMapAt(Warp &warp, const Op &op, unsigned lane, uint64_t address) {
  checkFences(warp, op, lane, address);
  ConstMapBytes bytes(mapBytes(warp, op, lane, Space::Generic, address, AccessKind::Read),
                      kMapBytes);
  if (const TensorMapParams *known = warp.cta->recentMaps.find(bytes))
    return *known;
  std::string fault;
  std::optional<TensorMapParams> map = decodeTensorMap(bytes, fault);
  if (!map)
    warp.stop(op, FindingKind::Async, lane, fault);
  fault = device::tensorMapFault(*map);
  if (fault.empty())
    fault = unmodelledPart(*map);
  if (!fault.empty())
    warp.stop(op, FindingKind::Async, lane, "the tensor map cannot be used: " + fault);
  warp.cta->recentMaps.add(bytes, *map);
  return *map;
}

namespace {

void noteChange(Warp &warp, uint64_t address, bool isReleased) {
  if (!warp.cta->launch->checks().async)
    return;
  ChangedMap &map = warp.cta->launch->changedMaps()[address];
  ++map.changes;
  map.changer = &warp;
  map.isReleased = isReleased;
}

void releaseMaps(Warp &warp, const Op &) {
  for (auto &[address, map] : warp.cta->launch->changedMaps())
    map.isReleased |= map.changer == &warp;
  warp.clock.fence(warp.mask);
}

// Row: the map's address.
void acquireMap(Warp &warp, const Op &op) {
  if (warp.shadow)
    checkAddress(warp, op, op.rows[0]);
  const ChangedMaps &changed = warp.cta->launch->changedMaps();
  forLanes(warp.mask, [&](unsigned lane) {
    auto map = changed.find(warp.row<uint64_t>(op.rows[0])[lane]);
    if (map != changed.end() && map->second.isReleased)
      warp.acquiredMaps[map->first] = {map->second.changes, warp.clock.time()};
  });
  warp.clock.fence(warp.mask);
}

constexpr std::pair<std::string_view, MapField> kFields[] = {
    {"global_address", MapField::GlobalAddress},
    {"rank", MapField::Rank},
    {"box_dim", MapField::BoxDim},
    {"global_dim", MapField::GlobalDim},
    {"global_stride", MapField::GlobalStride},
    {"element_stride", MapField::ElementStride},
    {"elemtype", MapField::ElementType},
    {"interleave_layout", MapField::InterleaveLayout},
    {"swizzle_mode", MapField::SwizzleMode},
    {"fill_mode", MapField::FillMode}};

struct ReplaceForm {
  MapField field;
  Space space;
};

// Rows: address (64 bits), value. Op::imm: the ordinal.
template <class T> void replaceField(Warp &warp, const Op &op) {
  auto form = formOf<ReplaceForm>(op);
  if (warp.shadow)
    checkAddress(warp, op, op.rows[0]);
  forLanes(warp.mask, [&](unsigned lane) {
    uint64_t address = warp.row<uint64_t>(op.rows[0])[lane];
    uint8_t *bytes = mapBytes(warp, op, lane, form.space, address, AccessKind::Write);
    std::string fault =
        replaceMapField(MapBytes(bytes, kMapBytes), form.field, static_cast<uint32_t>(op.imm),
                        warp.row<LaneOf<T>>(op.rows[1])[lane]);
    if (!fault.empty())
      warp.stop(op, FindingKind::Async, lane, fault);
    if (form.space != Space::Shared)
      noteChange(warp, address, false);
  });
}

// Rows: global address, shared address.
void copyMap(Warp &warp, const Op &op) {
  if (warp.shadow) {
    checkAddress(warp, op, op.rows[0]);
    checkAddress(warp, op, op.rows[1]);
  }
  if (!warp.converged(op, kFullMask))
    return;
  // All lanes name the same map; one moves it.
  auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  uint8_t *target = mapBytes(warp, op, lane, Space::Global, warp.row<uint64_t>(op.rows[0])[lane],
                             AccessKind::Write);
  const uint8_t *source = mapBytes(warp, op, lane, Space::Shared,
                                   warp.row<uint64_t>(op.rows[1])[lane], AccessKind::Read);
  std::memcpy(target, source, kMapBytes);
  if (warp.shadow)
    warp.cta->launch->memory().valid().setRange(warp.row<uint64_t>(op.rows[0])[lane] - kGlobalBase,
                                                kMapBytes, true);
  noteChange(warp, warp.row<uint64_t>(op.rows[0])[lane], true);
  warp.clock.fence(warp.mask);
}

void decodeReplace(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool tile = suffixes.take("tile");
  auto field =
      std::ranges::find_if(kFields, [&](const auto &row) { return suffixes.take(row.first); });
  Space space = suffixes.take("global")        ? Space::Global
                : suffixes.take("shared::cta") ? Space::Shared
                                               : Space::Generic;
  bool whole = suffixes.take("b1024");
  ScalarType type = suffixes.takeType();
  if (!tile || field == std::end(kFields) || !whole ||
      (type != ScalarType::B32 && type != ScalarType::B64))
    decoder.unsupported(
        "expected tensormap.replace.tile.FIELD{.global,.shared::cta}.b1024.{b32,b64}");
  // A field that each dimension has is preceded by the number of the dimension.
  bool hasOrdinal = field->first.ends_with("_dim") || field->first.ends_with("_stride");
  decoder.wantOperands(instruction, 2u + hasOrdinal);
  const auto &operands = instruction.operands;
  uint32_t ordinal = 0;
  if (hasOrdinal) {
    if (operands[1].kind != Operand::Kind::Immediate)
      decoder.malformed("the ordinal must be a constant");
    ordinal = static_cast<uint32_t>(std::min<uint64_t>(operands[1].value, UINT32_MAX));
  }
  decoder.spaceOf(space, decoder.address(operands[0]));
  uint32_t address = decoder.wideAddress(operands[0]);
  uint32_t value = decoder.source(operands.back(), type);
  // Blocks may meet in the map, and Launch keeps count of its changes.
  decoder.program().usesGlobalAtomics |= space != Space::Shared;
  decoder.emit(type == ScalarType::B64 ? replaceField<uint64_t> : replaceField<uint32_t>, {},
               {address, value}, ordinal, ReplaceForm{field->second, space}, kOwnValidity);
}

void decodeCopyFence(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool known = suffixes.take("global") && suffixes.take("shared::cta");
  suffixes.take("tensormap::generic");
  suffixes.take("proxy");
  suffixes.take("release");
  suffixes.takeOneOf({"cta", "cluster", "gpu", "sys"});
  if (!known || !suffixes.take("sync") || !suffixes.take("aligned"))
    decoder.unsupported("expected tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic."
                        "release.SCOPE.sync.aligned");
  decoder.wantOperands(instruction, 3);
  if (instruction.operands[2].value != kMapBytes)
    decoder.malformed("a tensor map has 128 bytes");
  uint32_t target = decoder.wideAddress(instruction.operands[0]);
  uint32_t source = decoder.wideAddress(instruction.operands[1]);
  decoder.program().usesGlobalAtomics = true; // see decodeReplace
  decoder.emit(copyMap, {}, {target, source}, 0, 0, 0, kOwnValidity);
}

void decodeTensormap(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("replace"))
    return decodeReplace(decoder, instruction, suffixes);
  if (suffixes.take("cp_fenceproxy"))
    return decodeCopyFence(decoder, instruction, suffixes);
  decoder.unsupported("expected tensormap.replace or .cp_fenceproxy");
}

const OpcodeInfo kOpcodes[] = {
    {.name = "tensormap",
     .decode = decodeTensormap,
     .time = alwaysCosts<Cost::Issue>,
     .kind = always<InstructionClass::AsyncCopy>,
     .forms = {{.needs = "release", .of = "tensormap.cp_fenceproxy"},
               {.needs = "tensormap::generic", .of = "tensormap.cp_fenceproxy"},
               {.needs = TILE_SCOPES, .of = "tensormap.cp_fenceproxy"},
               {.where = "global_address global_stride", .needs = "b64"},
               {.where = "rank box_dim global_dim element_stride elemtype interleave_layout "
                         "swizzle_mode fill_mode",
                .needs = "b32"}},
     .orders = {{"replace cp_fenceproxy > tile | global_address rank box_dim global_dim "
                 "global_stride element_stride elemtype interleave_layout swizzle_mode fill_mode | "
                 "global shared::cta > shared::cta | tensormap::generic | release" TILE_SCOPE_LIST
                 "sync | aligned | b1024 | b32 b64"}},
     .requirements = {{"replace", 90, 83, true}, {"cp_fenceproxy", 90, 83}}},
};

} // namespace

void decodeMapFence(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view order = suffixes.takeOneOf({"acquire", "release"});
  bool acquires = order == "acquire";
  if (order.empty() || suffixes.takeOneOf({"cta", "cluster", "gpu", "sys"}).empty())
    decoder.unsupported("expected fence.proxy.tensormap::generic.{acquire,release}.SCOPE");
  decoder.wantOperands(instruction, acquires ? 2 : 0);
  if (!acquires) {
    decoder.emit(releaseMaps, {}, {});
    return;
  }
  if (instruction.operands[1].value != kMapBytes)
    decoder.malformed("a tensor map has 128 bytes");
  decoder.emit(acquireMap, {}, {decoder.wideAddress(instruction.operands[0])}, 0, 0, 0,
               kOwnValidity);
}

OpcodeRows tensorMapOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
