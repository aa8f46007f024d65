// How a warp issues: which lanes, when, at what cost. What single kinds of instructions do is in
// SmEngineMemory, -Bulk, -Sync and -Tensor.
#include "runtime/vgpu/time/SmEngine.h"

#include <tile/Error.h>

#include <algorithm>

namespace tile::vgpu {

// Lanes of the warp that must be together wait for those that are elsewhere; nothing if those wait
// at an mbarrier.
std::optional<size_t> SmEngine::chooseSplit(EngineWarp &warp, double now) {
  const std::vector<TimedSplit> &splits = warp.lanes.splits;
  size_t chosen = warp.lanes.nextSplit();
  if (splits.size() == 1 || !program_.ops[splits[chosen].pc].needsLanes)
    return chosen;
  std::optional<size_t> other;
  bool someWait = false;
  for (size_t i = 0; i < splits.size(); ++i) {
    if (i == chosen)
      continue;
    someWait |= splits[i].isWaiting;
    if (!splits[i].isWaiting &&
        (!program_.ops[splits[i].pc].needsLanes || splits[i].pc < splits[chosen].pc))
      other = i;
  }
  if (other)
    return other;
  if (!someWait)
    return chosen;
  block(warp, now);
  return std::nullopt;
}

void SmEngine::run(EngineWarp &warp, double now) {
  if (warp.hasEnded || warp.isBlocked)
    return;
  try {
    for (;;) {
      if (warp.lanes.splits.empty())
        return end(warp, now);
      std::optional<size_t> split = chooseSplit(warp, now);
      if (!split)
        return;
      if (!issue(warp, *split, now))
        return;
    }
  } catch (const StopCta &) {
    throw errorOfStop(*warp.block.cta);
  }
}

double SmEngine::readyOf(const EngineWarp &warp, const TimedOp &op) const {
  double ready = 0;
  for (uint32_t row : program_.readsOf(op))
    ready = std::max(ready, warp.ready[row]);
  return ready;
}

// When the instruction can be issued.
double SmEngine::earliest(const EngineWarp &warp, const TimedOp &op, double now) const {
  const Scheduler &scheduler = schedulers_[warp.scheduler];
  double time = std::max({now, warp.next, readyOf(warp, op), scheduler.free});
  switch (op.pipe) {
  case Pipe::Fma:
  case Pipe::Alu:
  case Pipe::Imad:
  case Pipe::Mufu:
    time = std::max(time, scheduler.pipes[static_cast<size_t>(op.pipe)]);
    break;
  case Pipe::Tensor:
    time = tensorReady(warp, op, time, now);
    break;
  case Pipe::Memory:
    time = std::max(time, memoryFree_ - calibration_.load.queue);
    if (op.form.kind == TimeKind::StoreGlobal || op.form.kind == TimeKind::ReduceGlobal)
      time = std::max(time, memory_.outFree() - calibration_.store.queue);
    break;
  default:
    break;
  }
  return time;
}

void SmEngine::noteStall(uint32_t pc, Stall reason, double cycles) {
  report_.stalls[{program_.code[pc].instruction, reason}] += cycles;
}

void SmEngine::noteWait(const EngineWarp &warp, const TimedOp &op, uint32_t pc, double now,
                        double until) {
  double from = std::max(now, warp.next), ready = readyOf(warp, op);
  constexpr double kNegligible = 0.5;
  if (until - from <= kNegligible)
    return;
  Stall reason = op.pipe == Pipe::Tensor   ? Stall::Tensor
                 : op.pipe == Pipe::Memory ? Stall::Memory
                                           : Stall::Pipe;
  if (ready > from)
    noteStall(pc, Stall::Operand, ready - from);
  else
    noteStall(pc, reason, until - from);
}

// An instruction that costs nothing, in the time of those around it.
void SmEngine::passFree(EngineWarp &warp, size_t split, double ready) {
  TimedSplit &at = warp.lanes.splits[split];
  const TimedOp &op = program_.ops[at.pc];
  uint32_t lanes = warp.lanes.activeLanes(at);
  if (op.form.kind == TimeKind::Branch)
    return warp.lanes.branch(split, lanes);
  warp.lanes.execute(at.pc, lanes);
  for (uint32_t row : program_.writesOf(op))
    warp.ready[row] = ready;
  at.pc = warp.lanes.finishInstruction(at.pc, lanes);
}

// Takes the issue slot and the pipe; returns how much later than usual the result comes.
double SmEngine::occupy(const EngineWarp &warp, const TimedOp &op, double time) {
  Scheduler &scheduler = schedulers_[warp.scheduler];
  const auto &beside = calibration_.besideTensor;
  const double usualAlu = calibration_[Cost::Alu].occupancy;
  bool isBeside = scheduler.wgmmaUntil > time;
  double slot = 1, occupancy = op.occupancy;
  if (isBeside && op.pipe == Pipe::Fma)
    slot = beside.fmaIssue;
  if (isBeside && (op.pipe == Pipe::Alu || op.pipe == Pipe::Imad)) {
    slot = beside.alu / usualAlu;
    occupancy *= beside.alu / usualAlu;
  }
  if (isBeside && op.pipe == Pipe::Mufu) {
    slot = beside.mufuIssue;
    occupancy += beside.mufu;
  }
  scheduler.free = time + slot;
  report_.issued += 1;
  if (op.pipe != Pipe::Fma && op.pipe != Pipe::Alu && op.pipe != Pipe::Imad &&
      op.pipe != Pipe::Mufu)
    return 0;
  scheduler.pipes[static_cast<size_t>(op.pipe)] = time + occupancy;
  report_.busy[static_cast<size_t>(op.pipe)] += op.occupancy;
  return occupancy - op.occupancy;
}

// False if the warp gives way.
bool SmEngine::issue(EngineWarp &warp, size_t split, double &now) {
  uint32_t pc = warp.lanes.splits[split].pc;
  const TimedOp &op = program_.ops[pc];
  if (op.pipe == Pipe::None) {
    passFree(warp, split, readyOf(warp, op));
    return true;
  }
  double time = earliest(warp, op, now);
  constexpr double kSame = 1e-6;
  if (time > now + kSame) {
    push(time, EventKind::Run, &warp);
    noteWait(warp, op, pc, now, time);
    return false;
  }
  uint32_t lanes = warp.lanes.activeLanes(warp.lanes.splits[split]);
  ++report_.instructions;
  warp.lastOp = pc;
  warp.next = time + 1;
  if (!lanes && op.form.kind != TimeKind::Branch) {
    schedulers_[warp.scheduler].free = time + 1;
    report_.issued += 1;
    warp.lanes.splits[split].pc = warp.lanes.finishInstruction(pc, 0);
    push(warp.next, EventKind::Run, &warp);
    return false;
  }
  double later = occupy(warp, op, time);
  Issue issue{warp, split, pc, lanes, op, time, time + op.latency + later};
  perform(issue);
  if (!issue.stays)
    warp.lanes.splits[split].pc = warp.lanes.finishInstruction(pc, lanes);
  if (op.form.kind != TimeKind::MbarrierWait)
    for (uint32_t row : program_.writesOf(op))
      warp.ready[row] = issue.ready;
  if (issue.blocks)
    return false;
  now = std::max(warp.next, time);
  if (events_.empty() || events_.top().time > now)
    return true;
  push(now, EventKind::Run, &warp);
  return false;
}

void SmEngine::perform(Issue &issue) {
  EngineWarp &warp = issue.warp;
  const auto &calibration = calibration_;
  switch (issue.op.form.kind) {
  case TimeKind::Branch:
    countBranch(issue);
    warp.lanes.branch(issue.split, issue.lanes);
    warp.next = issue.time + (issue.lanes ? calibration.branch.taken : calibration.branch.notTaken);
    issue.stays = true;
    break;
  case TimeKind::Exit:
    exitLanes(issue);
    break;
  case TimeKind::LoadGlobal:
    loadGlobal(issue);
    break;
  case TimeKind::StoreGlobal:
  case TimeKind::ReduceGlobal:
    storeGlobal(issue);
    break;
  case TimeKind::LoadShared:
  case TimeKind::StoreShared:
  case TimeKind::LoadMatrix:
  case TimeKind::StoreMatrix:
    accessShared(issue);
    break;
  case TimeKind::Shuffle:
    exchange(issue);
    break;
  case TimeKind::AtomicGlobal:
    fetchWork(issue);
    break;
  case TimeKind::BarrierSync:
  case TimeKind::BarrierArrive:
    syncBarrier(issue);
    break;
  case TimeKind::MbarrierInit:
    initMbarrier(issue);
    break;
  case TimeKind::MbarrierArrive:
  case TimeKind::MbarrierExpect:
    arriveAtMbarrier(issue);
    break;
  case TimeKind::MbarrierWait:
    waitForMbarrier(issue);
    break;
  case TimeKind::BulkLoad:
    issue.op.form.number ? loadBox(issue) : loadRange(issue);
    break;
  case TimeKind::BulkStore:
    storeBulk(issue);
    break;
  case TimeKind::BulkCommit:
    warp.bulkGroups.push_back({warp.bulkRead, warp.bulkRead + calibration.bulkStore.done});
    break;
  case TimeKind::BulkWait:
    waitForBulk(issue);
    break;
  case TimeKind::AsyncCopy:
    copyAsync(issue);
    break;
  case TimeKind::AsyncCommit:
    warp.copyGroups.push_back(warp.copiesEnd);
    break;
  case TimeKind::AsyncWait:
    waitForCopies(issue);
    break;
  case TimeKind::AsyncArrive:
    push(std::max(issue.time, warp.copiesEnd), EventKind::RemoteArrival, nullptr, &warp.block,
         inWindow(addressOf(warp.lanes, issue.pc, warp.lanes.operation(issue.pc).rows[0],
                            firstLane(issue.lanes))));
    break;
  case TimeKind::WgmmaFence:
    fenceWgmma(issue);
    break;
  case TimeKind::Wgmma:
    issueWgmma(issue);
    break;
  case TimeKind::WgmmaCommit:
    if (schedulers_[warp.scheduler].owner == &warp)
      schedulers_[warp.scheduler].owner = nullptr;
    warp.wgmmaGroups.push_back(warp.wgmmaEnd);
    break;
  case TimeKind::WgmmaWait:
    waitForWgmma(issue);
    break;
  case TimeKind::Mma:
    multiply(issue);
    break;
  case TimeKind::Fence:
    warp.next = issue.time + fenceCycles(issue.op.form);
    break;
  case TimeKind::ChangeRegisters:
    warp.next = issue.time + calibration.setmaxnreg;
    break;
  case TimeKind::ClusterArrive:
    break;
  case TimeKind::ClusterWait:
    warp.next = issue.time + calibration.barrier.cluster;
    break;
  case TimeKind::WarpBarrier:
    warp.next = issue.time + calibration.barrier.syncwarp;
    break;
  case TimeKind::Compute:
  case TimeKind::Vote:
  case TimeKind::Elect:
    warp.lanes.execute(issue.pc, issue.lanes);
    break;
  }
}

void SmEngine::exitLanes(Issue &issue) {
  EngineWarp &warp = issue.warp;
  warp.lanes.exitLanes(issue.split, issue.lanes);
  issue.stays = true;
  bool allWait =
      !warp.lanes.splits.empty() && std::ranges::all_of(warp.lanes.splits, &TimedSplit::isWaiting);
  if (allWait) {
    block(warp, issue.time);
    issue.blocks = true;
  }
}

void SmEngine::end(EngineWarp &warp, double now) {
  warp.hasEnded = true;
  end_ = std::max(end_, now);
  EngineBlock &block = warp.block;
  if (--block.live)
    return;
  bool hasStored =
      std::ranges::any_of(block.warps, [](const auto &other) { return other->hasStored; });
  push(now + (hasStored ? memory_.cyclesOf(calibration_.store.exitNs) : 0), EventKind::BlockEnds,
       nullptr, &block);
}

void SmEngine::block(EngineWarp &warp, double now) {
  warp.isBlocked = true;
  warp.blockedSince = now;
}

void SmEngine::wake(EngineWarp &warp, double now, double at, Stall reason) {
  if (warp.isBlocked)
    noteStall(warp.lastOp, reason, now - warp.blockedSince);
  warp.isBlocked = false;
  push(at, EventKind::Run, &warp);
}

uint64_t SmEngine::operand(const Issue &issue, unsigned row) {
  const TimedWarp &warp = issue.warp.lanes;
  return warp.value(warp.operation(issue.pc).rows[row], firstLane(issue.lanes));
}

// A loop that waits for what other multiprocessors write never ends: there are none.
void SmEngine::countBranch(const Issue &issue) const {
  constexpr uint64_t kMostBranches = uint64_t{1} << 24; // seconds
  uint64_t most = launch_.launch().setup().maxBranches;
  most = most ? std::min(most, kMostBranches) : kMostBranches;
  if (!issue.lanes || ++issue.warp.branches <= most)
    return;
  const Program &program = *program_.program;
  throw Error(
      Fault::User, ErrorCode::Unsupported,
      "the time model gives up: a warp took " + std::to_string(most) +
          " branches, the last one here; loops that wait for other blocks have no end in it",
      {program.module->name.c_str(), program.lines[program_.code[issue.pc].instruction].line});
}

} // namespace tile::vgpu
