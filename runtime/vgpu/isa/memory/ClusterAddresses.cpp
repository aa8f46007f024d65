// mapa, getctarank: addresses in the shared memory of the blocks of a cluster.
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/access/SharedAddress.h"

namespace tile::vgpu {
namespace {

struct MapToRank {
  uint32_t operator()(uint32_t address, uint32_t rank) const { return mapAddress(address, rank); }
};
struct MapGenericToRank {
  uint64_t operator()(uint64_t address, uint32_t rank) const {
    return kSharedWindow + mapAddress(static_cast<uint32_t>(address - kSharedWindow), rank);
  }
};
struct MapWideToRank {
  uint64_t operator()(uint64_t address, uint32_t rank) const {
    return mapAddress(static_cast<uint32_t>(address), rank);
  }
};

// Rows: target, address, rank. The rank must be one of the cluster.
template <Handler Map> void mapShared(Warp &warp, const Op &op) {
  const uint32_t *rank = warp.row<uint32_t>(op.rows[2]);
  size_t size = warp.cta->cluster->ctas.size();
  forLanes(warp.mask, [&](unsigned lane) {
    if (rank[lane] >= size)
      warp.stop(op, FindingKind::OutOfBounds, lane,
                "block rank " + std::to_string(rank[lane]) + " in a cluster of " +
                    std::to_string(size));
  });
  Map(warp, op);
}

void decodeMapa(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool shared = suffixes.take("shared::cluster");
  ScalarType type = suffixes.takeType();
  if (type != ScalarType::U32 && type != ScalarType::U64)
    decoder.unsupported("expected mapa{.shared::cluster}.u32 or .u64");
  if (!shared && type == ScalarType::U32)
    decoder.unsupported("generic addresses are 64 bits wide");
  decoder.wantOperands(instruction, 3);
  uint32_t target = decoder.target(instruction.operands[0], type);
  uint32_t source = decoder.source(instruction.operands[1], type);
  uint32_t rank = decoder.source(instruction.operands[2], ScalarType::U32);
  Handler handler = type == ScalarType::U32
                        ? mapShared<laneOp<MapToRank, uint32_t, uint32_t, uint32_t>>
                    : shared ? mapShared<laneOp<MapWideToRank, uint64_t, uint64_t, uint32_t>>
                             : mapShared<laneOp<MapGenericToRank, uint64_t, uint64_t, uint32_t>>;
  decoder.emit(handler, {target}, {source, rank});
}

// Rows: target, address.
template <bool Generic, class T> void rankOf(Warp &warp, const Op &op) {
  const LaneOf<T> *address = warp.row<LaneOf<T>>(op.rows[1]);
  uint32_t *target = warp.row<uint32_t>(op.rows[0]);
  forLanes(warp.mask, [&](unsigned lane) {
    uint64_t shared = address[lane] - (Generic ? kSharedWindow : 0);
    target[lane] = static_cast<uint32_t>(shared >> kRankShift);
  });
}

void decodeGetctarank(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool shared = suffixes.take("shared::cluster");
  ScalarType type = suffixes.takeType();
  if (type != ScalarType::U64 && (type != ScalarType::U32 || !shared))
    decoder.unsupported("expected getctarank{.shared::cluster}.u32 or .u64");
  decoder.wantOperands(instruction, 2);
  Handler handler = type == ScalarType::U32 ? rankOf<false, uint32_t>
                    : shared                ? rankOf<false, uint64_t>
                                            : rankOf<true, uint64_t>;
  decoder.emit(handler, {decoder.target(instruction.operands[0], ScalarType::U32)},
               {decoder.source(instruction.operands[1], type)});
}

const OpcodeInfo kOpcodes[] = {
    {.name = "mapa",
     .decode = decodeMapa,
     .time = alwaysCosts<Cost::MapRank>,
     .kind = always<InstructionClass::Move>,
     .requirements = {{"", 90, 78}}},
    {.name = "getctarank",
     .decode = decodeGetctarank,
     .time = alwaysCosts<Cost::MapRank>,
     .kind = always<InstructionClass::Move>,
     .requirements = {{"", 90, 78}}},
};

} // namespace

OpcodeRows clusterAddressOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
