// bar / barrier (sync, arrive, red), bar.warp.sync, and fences.
#include "runtime/vgpu/machine/Barrier.h"

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/isa/async/TensorMapMemory.h"
#include "runtime/vgpu/machine/ClusterBarrier.h"
#include "runtime/vgpu/machine/InitCheck.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr uint32_t kNumBarriers = 16;

enum class BarrierForm : uint32_t { Sync, Arrive, RedPopc, RedAnd, RedOr };

// Op::b of a barrier: the form, and whether all lanes of the warp must come together. Op::a: 1 if it has a count.
constexpr uint32_t kAligned = 16;

bool waitsAt(const Op &op) {
  return static_cast<BarrierForm>(op.b & ~kAligned) != BarrierForm::Arrive;
}

// `pc` is behind the barrier's instruction.
void writeReduction(Warp &warp, const Barrier &barrier, uint32_t pc, uint32_t lanes) {
  const Op &op = warp.cta->launch->program().code[pc - 1];
  auto form = static_cast<BarrierForm>(op.b & ~kAligned);
  if (form == BarrierForm::RedPopc)
    forLanes(lanes,
             [&](unsigned lane) { warp.row<uint32_t>(op.rows[0])[lane] = barrier.popcount; });
  else if (form == BarrierForm::RedAnd || form == BarrierForm::RedOr)
    mergeMask(warp.predicate(op.rows[0]),
              (form == BarrierForm::RedAnd ? barrier.all : barrier.any) ? kFullMask : 0, lanes);
}

// Lanes that have come on their own go on, each where it is.
void releaseSplits(Warp &warp, const Barrier &barrier, int8_t id) {
  for (Split &split : warp.splits) {
    if (split.barrier != id)
      continue;
    warp.clock.wait(barrier.knowledge, split.mask);
    writeReduction(warp, barrier, split.pc, split.mask);
    split.waiting = false;
    split.barrier = -1;
  }
  warp.limit = 0;
  if (warp.status == WarpStatus::AtBarrier)
    warp.status = WarpStatus::Ready;
}

// All have arrived: everyone who waits goes on, knowing what all of them did.
void release(Cta &cta, Barrier &barrier) {
  ++cta.counters.barriers;
  for (Warp &warp : cta.warps)
    if (barrier.waiting >> warp.index & 1) {
      if (!warp.splits.empty()) {
        releaseSplits(warp, barrier, static_cast<int8_t>(&barrier - cta.barriers));
        continue;
      }
      warp.clock.wait(barrier.knowledge, kFullMask);
      warp.status = WarpStatus::Ready;
      writeReduction(warp, barrier, warp.pc, warp.mask);
    }
  barrier = {};
}

void arrive(Warp &warp, const Op &op, Barrier &barrier, bool waits) {
  uint32_t threads = static_cast<uint32_t>(std::popcount(warp.mask));
  if (!barrier.wholeCta) // partial barriers count whole warps, whatever lanes have exited
    threads = (op.b & kAligned) ? kLanes : threads;
  barrier.arrived += threads;
  if (barrier.arrivals >> warp.index & 1 && (op.b & kAligned))
    warp.report(op, FindingKind::Barrier, LaneMask{warp.mask},
                "the warp arrives twice in one phase of the barrier");
  barrier.arrivals |= 1u << warp.index;
  warp.clock.arrive(barrier.knowledge, warp.mask);
  ++*warp.cta->cluster->events;
  if (waits)
    barrier.waiting |= 1u << warp.index;
}

void barrierArguments(Warp &warp, const Op &op, uint32_t &id, uint32_t &count) {
  unsigned lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  id = warp.row<uint32_t>(op.rows[op.targets])[lane];
  count = op.a ? warp.row<uint32_t>(op.rows[op.targets + 1])[lane] : 0;
  if (id >= kNumBarriers)
    warp.stop(op, FindingKind::Barrier, lane,
              "barrier " + std::to_string(id) + " does not exist: there are 16");
  if (op.a && (count == 0 || count % kLanes))
    warp.stop(op, FindingKind::Barrier, lane,
              "barrier count " + std::to_string(count) + " is not a positive multiple of 32");
}

// The active lanes arrive. Returns the barrier's number.
uint8_t arriveAll(Warp &warp, const Op &op) {
  auto form = static_cast<BarrierForm>(op.b & ~kAligned);
  uint32_t id = 0, count = 0;
  barrierArguments(warp, op, id, count);
  Barrier &barrier = warp.cta->barriers[id];
  if (barrier.arrivals && (barrier.expected != count || barrier.wholeCta != (count == 0)))
    warp.stop(
        op, FindingKind::Barrier, LaneMask{warp.mask},
        "barrier " + std::to_string(id) + " is used with " +
            (count ? std::to_string(count) + " threads" : std::string("all threads")) +
            " while its open phase expects " +
            (barrier.wholeCta ? std::string("all threads") : std::to_string(barrier.expected)));
  barrier.expected = count;
  barrier.wholeCta = count == 0;
  if (form >= BarrierForm::RedPopc) {
    uint32_t votes = warp.predicate(op.rows[op.targets + op.sources - 1]) & warp.mask;
    barrier.popcount += static_cast<uint32_t>(std::popcount(votes));
    barrier.all &= votes == warp.mask;
    barrier.any |= votes != 0;
  }
  arrive(warp, op, barrier, waitsAt(op));
  return static_cast<uint8_t>(id);
}

void releaseIfComplete(Cta &cta, Barrier &barrier) {
  if (barrier.arrived >= expectedThreads(cta, barrier))
    release(cta, barrier);
}

// The aligned forms want the whole warp here.
void runBarrier(Warp &warp, const Op &op) {
  Cta &cta = *warp.cta;
  if (!warp.converged(op, kFullMask))
    return;
  if (warp.mask != warp.live() && cta.launch->checks().sync)
    warp.report(op, FindingKind::Divergence, LaneMask{warp.mask},
                "only " + std::to_string(std::popcount(warp.mask)) + " of " +
                    std::to_string(std::popcount(warp.live())) +
                    " lanes take part in an aligned barrier");
  uint8_t id = arriveAll(warp, op);
  if (waitsAt(op))
    warp.block(WarpStatus::AtBarrier, id);
  releaseIfComplete(cta, cta.barriers[id]);
}

// Those of `lanes` that name the same barrier as the first of them, and the same count.
uint32_t lanesOfOneBarrier(Warp &warp, const Op &op, uint32_t lanes) {
  auto first = static_cast<unsigned>(std::countr_zero(lanes));
  for (unsigned i = 0; i <= op.a; ++i) {
    const uint32_t *values = warp.row<uint32_t>(op.rows[op.targets + i]);
    forLanes(lanes, [&](unsigned lane) {
      if (values[lane] != values[first])
        lanes &= ~(1u << lane);
    });
  }
  return lanes;
}

// Each lane arrives on its own, wherever the others are: those that are here do so together.
void runFreeBarrier(Warp &warp, const Op &op) {
  Cta &cta = *warp.cta;
  if (warp.shadow && (op.flags & kHasGuard))
    checkCondition(warp, op, op.guardRow);
  uint32_t here = warp.mask, lanes = guardedLanes(warp, op);
  if (!lanes)
    return;
  uint32_t together = lanesOfOneBarrier(warp, op, lanes);
  if (together != lanes) { // the rest comes back for its own
    warp.splits.push_back({warp.pc - 1, lanes & ~together, false});
    here &= ~lanes | together;
    warp.limit = 0;
  }
  warp.mask = together;
  if (together == warp.live())
    warp.converged(op, kFullMask);
  if (warp.shadow && op.targets) {
    uint32_t known = warp.shadow.whole(op.rows[op.targets + op.sources - 1]);
    warp.shadow.set(op.rows[0], known, together);
  }
  uint8_t id = arriveAll(warp, op);
  warp.mask = here;
  if (waitsAt(op)) {
    if (together == warp.live())
      warp.block(WarpStatus::AtBarrier, id);
    else
      warp.waitApart(together, id);
  }
  releaseIfComplete(cta, cta.barriers[id]);
}

void warpSync(Warp &warp, const Op &op) {
  const uint32_t *members = warp.row<uint32_t>(op.rows[0]);
  uint32_t together = 0;
  forLanes(warp.mask, [&](unsigned lane) { together |= members[lane]; });
  if (!warp.converged(op, together & warp.present))
    return;
  if (warp.cta->launch->checks().sync)
    forLanes(warp.mask, [&](unsigned lane) {
      if (!(members[lane] >> lane & 1))
        warp.report(op, FindingKind::Divergence, lane,
                    "the lane executes bar.warp.sync but is not in its member mask");
    });
  warp.clock.syncLanes();
}

void decodeBar(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("warp")) {
    if (!suffixes.take("sync"))
      decoder.unsupported("expected bar.warp.sync");
    decoder.wantOperands(instruction, 1);
    decoder.emit(warpSync, {}, {decoder.source(instruction.operands[0], ScalarType::U32)});
    return;
  }
  if (instruction.opcode == "barrier" && suffixes.take("cluster"))
    return decodeClusterBarrier(decoder, instruction, suffixes);
  suffixes.take("cta");
  bool aligned = instruction.opcode == "bar";
  aligned |= suffixes.take("aligned");
  auto form = BarrierForm::Sync;
  std::string_view reduction;
  if (suffixes.take("arrive"))
    form = BarrierForm::Arrive;
  else if (suffixes.take("red")) {
    reduction = suffixes.takeOneOf({"popc", "and", "or"});
    form = reduction == "popc"  ? BarrierForm::RedPopc
           : reduction == "and" ? BarrierForm::RedAnd
                                : BarrierForm::RedOr;
    ScalarType type = suffixes.takeType();
    if (reduction.empty() || type != (reduction == "popc" ? ScalarType::U32 : ScalarType::Pred))
      decoder.unsupported("expected bar.red.popc.u32, bar.red.and.pred or bar.red.or.pred");
  } else if (!suffixes.take("sync")) {
    decoder.unsupported("expected sync, arrive or red");
  }
  const auto &operands = instruction.operands;
  bool reduces = form >= BarrierForm::RedPopc;
  decoder.wantOperands(instruction,
                       reduces                       ? 3
                       : form == BarrierForm::Arrive ? 2
                                                     : 1,
                       reduces ? 4 : 2);
  size_t at = reduces ? 1 : 0;
  bool hasCount = operands.size() - at - reduces == 2;
  std::vector<uint32_t> targets, sources;
  if (reduces)
    targets.push_back(decoder.target(operands[0], form == BarrierForm::RedPopc ? ScalarType::U32
                                                                               : ScalarType::Pred));
  if (operands[at].kind == Operand::Kind::Immediate && operands[at].value >= kNumBarriers)
    decoder.malformed("the barriers of a block are 0 to 15, found " +
                      std::to_string(operands[at].value));
  sources.push_back(decoder.source(operands[at], ScalarType::U32));
  if (hasCount)
    sources.push_back(decoder.source(operands[at + 1], ScalarType::U32));
  if (reduces)
    sources.push_back(decoder.predicate(operands.back()));
  auto bits = static_cast<uint32_t>(form);
  if (aligned) {
    decoder.emitWide(runBarrier, targets, sources, 0, hasCount, bits | kAligned);
    return;
  }
  decoder.program().releases = true;
  Op &op = decoder.emitWide(runFreeBarrier, targets, sources, 0, hasCount, bits,
                            kOwnGuard | kOwnValidity | kControl);
  if (instruction.guard >= 0)
    attachGuard(instruction, op, decoder.guardRow(instruction));
}

// Memory is touched in program order; a fence matters to the race checkers, as half of a release or acquire pattern.
void fence(Warp &warp, const Op &) {
  if (warp.cta->races)
    warp.clock.fence(warp.mask);
}

void fenceProxy(Warp &warp, const Op &) { warp.clock.fenceProxy(); }

// `.sync_restrict`: which space's objects the order is for; here it is for all.
void takeRestriction(Decoder &decoder, Suffixes &suffixes) {
  bool acquires = suffixes.take("acquire");
  if ((!acquires && !suffixes.take("release")) ||
      !suffixes.take(acquires ? "sync_restrict::shared::cluster" : "sync_restrict::shared::cta") ||
      !suffixes.take("cluster"))
    decoder.unsupported("expected .acquire.sync_restrict::shared::cluster.cluster or "
                        ".release.sync_restrict::shared::cta.cluster");
}

void decodeProxyFence(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("async::generic")) {
    takeRestriction(decoder, suffixes);
    decoder.program().releases = true;
    decoder.emit(fenceProxy, {}, {});
    decoder.emit(fence, {}, {});
    return;
  }
  if (suffixes.take("async")) {
    suffixes.takeOneOf({"global", "shared::cta", "shared::cluster"});
    decoder.emit(fenceProxy, {}, {});
    return;
  }
  if (suffixes.take("alias")) {
    decoder.emit(fence, {}, {});
    return;
  }
  // Orders changes of a tensor map before the copies that use it; maps are read when a copy is issued.
  if (suffixes.take("tensormap::generic"))
    return decodeMapFence(decoder, instruction, suffixes);
  decoder.unsupported("expected fence.proxy.async, .alias or .tensormap::generic");
}

void decodeFence(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (suffixes.take("proxy"))
    return decodeProxyFence(decoder, instruction, suffixes);
  bool isRestricted = std::ranges::any_of(instruction.suffix, [](std::string_view modifier) {
    return modifier.starts_with("sync_restrict");
  });
  if (isRestricted) {
    takeRestriction(decoder, suffixes);
  } else if (instruction.opcode == "membar") {
    if (suffixes.takeOneOf({"cta", "gl", "sys"}).empty())
      decoder.unsupported("expected membar.cta, .gl or .sys");
  } else {
    suffixes.take("mbarrier_init"); // a lighter release that suffices after mbarrier.init
    suffixes.takeOneOf({"acq_rel", "sc", "acquire", "release"});
    if (suffixes.takeOneOf({"cta", "cluster", "gpu", "sys"}).empty())
      decoder.unsupported("a fence needs a scope");
  }
  decoder.program().releases = true;
  decoder.emit(fence, {}, {});
}

} // namespace

uint32_t expectedThreads(const Cta &cta, const Barrier &barrier) {
  if (!barrier.wholeCta)
    return barrier.expected;
  uint32_t threads = 0;
  for (const Warp &warp : cta.warps)
    threads += static_cast<uint32_t>(std::popcount(warp.live()));
  return threads;
}

void releaseComplete(Cta &cta) {
  for (Barrier &barrier : cta.barriers)
    if (barrier.wholeCta && barrier.arrivals)
      releaseIfComplete(cta, barrier);
}

void noteExit(Warp &warp) {
  Cta &cta = *warp.cta;
  releaseComplete(cta);
  cta.hasExited = std::ranges::all_of(
      cta.warps, [](const Warp &other) { return other.status == WarpStatus::Exited; });
  noteExit(*cta.cluster);
}

void registerBarrier(OpcodeTable &table) {
  table["bar"] = decodeBar;
  table["barrier"] = decodeBar;
  table["membar"] = decodeFence;
  table["fence"] = decodeFence;
}

} // namespace tile::vgpu
