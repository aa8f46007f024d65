// Executes bar and barrier (sync, arrive, red), and bar.warp.sync.
#include "runtime/vgpu/machine/Barrier.h"

#include "runtime/vgpu/machine/BarrierForm.h"
#include "runtime/vgpu/machine/ClusterBarrier.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/OpForm.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// `pc` is behind the barrier's instruction.
void writeReduction(Warp &warp, const Barrier &barrier, uint32_t pc, uint32_t lanes) {
  const Op &op = warp.cta->launch->program().code[pc - 1];
  BarrierAction action = formOf<BarrierForm>(op).action;
  if (action == BarrierAction::RedPopc)
    forLanes(lanes,
             [&](unsigned lane) { warp.row<uint32_t>(op.rows[0])[lane] = barrier.popcount; });
  else if (action == BarrierAction::RedAnd || action == BarrierAction::RedOr)
    mergeMask(warp.predicate(op.rows[0]),
              (action == BarrierAction::RedAnd ? barrier.all : barrier.any) ? kFullMask : 0, lanes);
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

void arrive(Warp &warp, const Op &op, Barrier &barrier) {
  auto form = formOf<BarrierForm>(op);
  uint32_t threads = static_cast<uint32_t>(std::popcount(warp.mask));
  if (!barrier.wholeCta) // partial barriers count whole warps, whatever lanes have exited
    threads = form.isAligned ? kLanes : threads;
  barrier.arrived += threads;
  if (barrier.arrivals >> warp.index & 1 && form.isAligned)
    warp.report(op, FindingKind::Barrier, LaneMask{warp.mask},
                "the warp arrives twice in one phase of the barrier");
  barrier.arrivals |= 1u << warp.index;
  warp.clock.arrive(barrier.knowledge, warp.mask);
  ++*warp.cta->cluster->events;
  if (form.waits())
    barrier.waiting |= 1u << warp.index;
}

void barrierArguments(Warp &warp, const Op &op, uint32_t &id, uint32_t &count) {
  unsigned lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  bool hasCount = formOf<BarrierForm>(op).hasCount;
  id = warp.row<uint32_t>(op.rows[op.targets])[lane];
  count = hasCount ? warp.row<uint32_t>(op.rows[op.targets + 1])[lane] : 0;
  if (id >= kNumBarriers)
    warp.stop(op, FindingKind::Barrier, lane,
              "barrier " + std::to_string(id) + " does not exist: there are 16");
  if (hasCount && (count == 0 || count % kLanes))
    warp.stop(op, FindingKind::Barrier, lane,
              "barrier count " + std::to_string(count) + " is not a positive multiple of 32");
}

// The active lanes arrive. Returns the barrier's number.
uint8_t arriveAll(Warp &warp, const Op &op) {
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
  if (formOf<BarrierForm>(op).reduces()) {
    uint32_t votes = warp.predicate(op.rows[op.targets + op.sources - 1]) & warp.mask;
    barrier.popcount += static_cast<uint32_t>(std::popcount(votes));
    barrier.all &= votes == warp.mask;
    barrier.any |= votes != 0;
  }
  arrive(warp, op, barrier);
  return static_cast<uint8_t>(id);
}

void releaseIfComplete(Cta &cta, Barrier &barrier) {
  if (barrier.arrived >= expectedThreads(cta, barrier))
    release(cta, barrier);
}

} // namespace

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
  if (formOf<BarrierForm>(op).waits())
    warp.block(WarpStatus::AtBarrier, id);
  releaseIfComplete(cta, cta.barriers[id]);
}

// Those of `lanes` that name the same barrier as the first of them, and the same count.
static uint32_t lanesOfOneBarrier(Warp &warp, const Op &op, uint32_t lanes) {
  auto first = static_cast<unsigned>(std::countr_zero(lanes));
  unsigned arguments = formOf<BarrierForm>(op).hasCount ? 2 : 1;
  for (unsigned i = 0; i < arguments; ++i) {
    const uint32_t *values = warp.row<uint32_t>(op.rows[op.targets + i]);
    forLanes(lanes, [&](unsigned lane) {
      if (values[lane] != values[first])
        lanes &= ~(1u << lane);
    });
  }
  return lanes;
}

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
  if (formOf<BarrierForm>(op).waits()) {
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

} // namespace tile::vgpu
