// Named barriers, mbarriers and fences.
#include "runtime/vgpu/time/SmEngine.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/OpForm.h"
#include "runtime/vgpu/machine/async/MbarrierForm.h"

#include <algorithm>

namespace tile::vgpu {

void SmEngine::syncBarrier(Issue &issue) {
  EngineWarp &warp = issue.warp;
  const Op &op = warp.lanes.operation(issue.pc);
  auto form = formOf<BarrierForm>(op);
  uint64_t threads =
      form.hasCount ? operand(issue, op.targets + 1u) : uint64_t{warp.block.warps.size()} * kLanes;
  EngineBarrier &barrier = warp.block.barriers[operand(issue, op.targets) % kNumBarriers];
  barrier.arrived += kLanes;
  if (issue.op.form.kind == TimeKind::BarrierSync) {
    barrier.waiters.push_back(&warp);
    block(warp, issue.time);
    issue.blocks = true;
  } else {
    warp.next = issue.time + calibration_.barrier.arriveIssue;
  }
  if (barrier.arrived >= threads)
    releaseBarrier(barrier, issue.time);
}

void SmEngine::releaseBarrier(EngineBarrier &barrier, double now) {
  constexpr double kOrder = 0.01; // keeps warps in the order of their arrival
  double latency = calibration_.barrier.base +
                   calibration_.barrier.warp * static_cast<double>(barrier.arrived / kLanes);
  double at = now + latency;
  for (EngineWarp *waiter : std::exchange(barrier.waiters, {})) {
    wake(*waiter, now, at, Stall::Barrier);
    at += kOrder;
  }
  barrier.arrived = 0;
}

void SmEngine::initMbarrier(Issue &issue) {
  EngineMbarrier &barrier = issue.warp.block.mbarriers[inWindow(
      addressOf(issue.warp.lanes, issue.pc, issue.warp.lanes.operation(issue.pc).rows[0],
                firstLane(issue.lanes)))];
  barrier = {};
  barrier.count = barrier.pending = static_cast<int64_t>(operand(issue, 1));
}

// Rows: {state,} address, operand. An arrival in another block of the cluster stands for the one
// that such a block makes here.
void SmEngine::arriveAtMbarrier(Issue &issue) {
  EngineWarp &warp = issue.warp;
  const auto &costs = calibration_.mbarrier;
  const Op &op = warp.lanes.operation(issue.pc);
  const TimeForm &form = issue.op.form;
  bool arrives = form.kind == TimeKind::MbarrierArrive, expects = form.flag || !arrives;
  forLanes(issue.lanes, [&](unsigned lane) {
    uint64_t address = addressOf(warp.lanes, issue.pc, op.rows[op.targets], lane);
    auto number = static_cast<int64_t>(warp.lanes.value(op.rows[op.targets + 1u], lane));
    uint32_t local = inWindow(address);
    if (address >> kRankShift != warp.block.cta->rank) {
      double latency = form.hasClusterScope ? costs.releaseCluster : costs.remote;
      push(issue.time + latency - costs.wake, EventKind::RemoteArrival, nullptr, &warp.block,
           local);
      return;
    }
    EngineMbarrier &barrier = warp.block.mbarriers[local];
    if (op.targets)
      warp.lanes.setValue(op.rows[0], lane, barrier.parity);
    if (expects)
      barrier.bytes += number;
    if (arrives)
      barrier.pending -= expects ? 1 : number;
    complete(warp.block, local, issue.time + costs.arrive);
  });
  warp.next =
      issue.time + (form.hasClusterScope && !expects ? costs.releaseIssue : costs.arriveIssue);
}

void SmEngine::complete(EngineBlock &block, uint32_t address, double now) {
  EngineMbarrier &barrier = block.mbarriers[address];
  if (barrier.pending > 0 || barrier.bytes != 0)
    return;
  barrier.parity ^= 1;
  barrier.pending = barrier.count;
  double at = now + calibration_.mbarrier.wake;
  for (EngineMbarrier::Waiter waiter : std::exchange(barrier.waiters, {})) {
    if (barrier.parity == waiter.parity) {
      barrier.waiters.push_back(waiter);
      continue;
    }
    for (TimedSplit &split : waiter.warp->lanes.splits)
      if (split.isWaiting && split.mask == waiter.lanes)
        split.isWaiting = false;
    if (waiter.warp->isBlocked) {
      wake(*waiter.warp, now, at, Stall::Mbarrier);
      at += calibration_.mbarrier.wakeNext;
    }
  }
}

// The wait succeeds when it returns: nothing spins.
void SmEngine::waitForMbarrier(Issue &issue) {
  EngineWarp &warp = issue.warp;
  const Op &op = warp.lanes.operation(issue.pc);
  unsigned lane = firstLane(issue.lanes);
  uint32_t address = inWindow(addressOf(warp.lanes, issue.pc, op.rows[op.targets], lane));
  unsigned parity = static_cast<unsigned>(warp.lanes.value(op.rows[op.targets + 1u], lane)) & 1;
  warp.lanes.setPredicate(op.rows[0], issue.lanes, true);
  TimedSplit &split = warp.lanes.splits[issue.split];
  split.pc = warp.lanes.finishInstruction(issue.pc, issue.lanes);
  issue.stays = true;
  EngineMbarrier &barrier = warp.block.mbarriers[address];
  bool isComplete = barrier.parity != parity;
  for (uint32_t row : program_.writesOf(issue.op))
    warp.ready[row] = isComplete ? issue.time + calibration_.mbarrier.tryWait : 0;
  if (isComplete) {
    warp.next =
        issue.time + (issue.op.form.hasClusterScope ? calibration_.mbarrier.acquireCluster : 1);
    return;
  }
  split.isWaiting = true;
  barrier.waiters.push_back({&warp, split.mask, parity});
  if (std::ranges::all_of(warp.lanes.splits, &TimedSplit::isWaiting)) {
    block(warp, issue.time);
    issue.blocks = true;
  }
}

double SmEngine::fenceCycles(const TimeForm &form) const {
  if (form.flag)
    return calibration_.fence.gpu;
  return form.hasClusterScope ? calibration_.fence.block : calibration_.fence.proxy;
}

} // namespace tile::vgpu
