// Products: wgmma of warpgroups, and mma of single warps.
#include "runtime/vgpu/time/SmEngine.h"

#include "runtime/vgpu/isa/tensor/WgmmaForm.h"

#include <algorithm>

namespace tile::vgpu {

// Each scheduler's tensor core has a queue. A warp that has begun a group goes on before others do.
double SmEngine::tensorReady(const EngineWarp &warp, const TimedOp &op, double time,
                             double now) const {
  const Scheduler &scheduler = schedulers_[warp.scheduler];
  if (op.form.kind != TimeKind::Wgmma)
    return std::max(time, scheduler.tensorFree - calibration_.mma.queue);
  auto depth = static_cast<size_t>(calibration_.tensor.queue);
  const std::deque<double> &starts = scheduler.wgmmaStarts;
  if (starts.size() >= depth)
    time = std::max(time, starts[starts.size() - depth]);
  bool isOthers = scheduler.owner && scheduler.owner != &warp && !scheduler.owner->isBlocked;
  constexpr double kLookAgain = 4;
  if (isOthers && time < scheduler.ownedSince + calibration_.tensor.greedy)
    time = std::max(time, now + kLookAgain);
  return time;
}

void SmEngine::issueWgmma(Issue &issue) {
  EngineWarp &warp = issue.warp;
  Scheduler &scheduler = schedulers_[warp.scheduler];
  const auto &tensor = calibration_.tensor;
  bool aInRegisters = issue.op.form.flag;
  scheduler.owner = &warp;
  scheduler.ownedSince = issue.time;
  double start = std::max(issue.time + tensor.start, scheduler.tensorFree);
  scheduler.wgmmaStarts.push_back(start);
  constexpr size_t kKept = 32;
  if (scheduler.wgmmaStarts.size() > kKept)
    scheduler.wgmmaStarts.pop_front();
  scheduler.tensorFree = scheduler.wgmmaUntil = start + issue.op.occupancy;
  report_.busy[static_cast<size_t>(Pipe::Tensor)] += issue.op.occupancy;
  warp.wgmmaEnd = std::max(warp.wgmmaEnd, scheduler.tensorFree +
                                              (aInRegisters ? tensor.tailRegisters : tensor.tail));
  constexpr double kIssueCycles = 2;
  warp.next = issue.time + kIssueCycles;
  // B once for all four warps, and A of each, of 128 bytes a cycle.
  constexpr double kDepthBytes = 32, kBytesOfA = 2048, kBytesOfCycle = 128;
  double bytes = issue.op.form.number * kDepthBytes + (aInRegisters ? 0 : kBytesOfA);
  wgmmaShare_ = std::min(1.0, bytes / issue.op.occupancy / kBytesOfCycle);
}

// Joins the four warps, which else drift apart by more than a ring has stages.
void SmEngine::fenceWgmma(Issue &issue) {
  EngineWarp &warp = issue.warp;
  EngineBarrier &group = warp.block.warpgroups[warp.lanes.index() / kWarpsOfGroup];
  block(warp, issue.time);
  issue.blocks = true;
  group.waiters.push_back(&warp);
  size_t members = std::min<size_t>(kWarpsOfGroup, warp.block.warps.size());
  if (group.waiters.size() < members)
    return;
  for (EngineWarp *waiter : std::exchange(group.waiters, {}))
    wake(*waiter, issue.time, issue.time + calibration_.tensor.fence, Stall::Warpgroup);
}

void SmEngine::waitForWgmma(Issue &issue) {
  EngineWarp &warp = issue.warp;
  double end = issue.time + calibration_.tensor.wait;
  size_t open = issue.op.form.number;
  if (warp.wgmmaGroups.size() > open)
    end = std::max(end, warp.wgmmaGroups[warp.wgmmaGroups.size() - 1 - open]);
  if (open == 0)
    warp.wgmmaGroups.clear();
  else if (warp.wgmmaGroups.size() > open + 2)
    warp.wgmmaGroups.erase(warp.wgmmaGroups.begin());
  noteStall(issue.pc, Stall::Wgmma, end - issue.time);
  warp.next = end;
}

void SmEngine::multiply(Issue &issue) {
  Scheduler &scheduler = schedulers_[issue.warp.scheduler];
  double start = std::max(issue.time, scheduler.tensorFree);
  scheduler.tensorFree = start + issue.op.occupancy;
  report_.busy[static_cast<size_t>(Pipe::Tensor)] += issue.op.occupancy;
  issue.ready = start + issue.op.latency;
}

} // namespace tile::vgpu
