// barrier.cluster, mapa, getctarank.
#include "runtime/vgpu/machine/ClusterBarrier.h"

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/SharedPlace.h"

namespace tile::vgpu {

uint32_t expectedThreads(const Cluster &cluster) {
  uint32_t threads = 0;
  for (const auto &cta : cluster.ctas)
    for (const Warp &warp : cta->warps)
      threads += static_cast<uint32_t>(std::popcount(warp.live()));
  return threads;
}

static void completePhase(Cluster &cluster) {
  ClusterBarrier &barrier = cluster.barrier;
  ++barrier.phase;
  barrier.arrived = 0;
  barrier.completed = std::move(barrier.arriving);
  barrier.arriving = {};
  ++*cluster.events;
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps)
      if (warp.status == WarpStatus::AtClusterBarrier && warp.clusterPhase < barrier.phase) {
        warp.status = WarpStatus::Ready;
        warp.clock.wait(barrier.completed, kFullMask);
      }
}

void noteExit(Cluster &cluster) {
  if (cluster.barrier.arrived && cluster.barrier.arrived >= expectedThreads(cluster))
    completePhase(cluster);
}

namespace {

// Op::a: bit 0 all lanes must come together, bit 1 no memory order.
constexpr uint32_t kAligned = 1, kRelaxed = 2;

bool takesWholeWarp(Warp &warp, const Op &op) {
  if (!warp.converged(op, kFullMask))
    return false;
  if (op.a & kAligned && warp.mask != warp.live() && warp.cta->launch->checks().sync)
    warp.report(op, FindingKind::Divergence, LaneMask{warp.mask},
                "only " + std::to_string(std::popcount(warp.mask)) + " of " +
                    std::to_string(std::popcount(warp.live())) +
                    " lanes take part in an aligned barrier");
  return true;
}

void clusterArrive(Warp &warp, const Op &op) {
  if (!takesWholeWarp(warp, op))
    return;
  Cluster &cluster = *warp.cta->cluster;
  ClusterBarrier &barrier = cluster.barrier;
  if (warp.isArrived)
    warp.stop(op, FindingKind::Barrier, LaneMask{warp.mask},
              "the warp arrives again before it has waited for the phase it arrived in");
  warp.isArrived = true;
  warp.clusterPhase = barrier.phase;
  if (op.a & kRelaxed)
    warp.clock.arriveRelaxed(barrier.arriving);
  else
    warp.clock.arrive(barrier.arriving, warp.mask);
  barrier.arrived += static_cast<uint32_t>(std::popcount(warp.mask));
  ++*cluster.events;
  if (barrier.arrived >= expectedThreads(cluster))
    completePhase(cluster);
}

void clusterWait(Warp &warp, const Op &op) {
  if (!takesWholeWarp(warp, op))
    return;
  ClusterBarrier &barrier = warp.cta->cluster->barrier;
  if (!warp.isArrived)
    warp.stop(op, FindingKind::Barrier, LaneMask{warp.mask},
              "the warp waits for the cluster without having arrived");
  warp.isArrived = false;
  if (barrier.phase > warp.clusterPhase)
    warp.clock.wait(barrier.completed, kFullMask);
  else
    warp.block(WarpStatus::AtClusterBarrier, 0);
}

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

} // namespace

void decodeClusterBarrier(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  decoder.wantOperands(instruction, 0);
  bool arrives = suffixes.take("arrive");
  if (!arrives && !suffixes.take("wait"))
    decoder.unsupported("expected barrier.cluster.arrive or .wait");
  uint32_t flags = suffixes.take("relaxed") && arrives ? kRelaxed : 0;
  suffixes.take(arrives ? "release" : "acquire");
  flags |= suffixes.take("aligned") ? kAligned : 0;
  decoder.emit(arrives ? clusterArrive : clusterWait, {}, {}, 0, flags);
}

void registerCluster(OpcodeTable &table) {
  table["mapa"] = decodeMapa;
  table["getctarank"] = decodeGetctarank;
}

} // namespace tile::vgpu
