// The interpreter loop of a warp, divergence and reconvergence, blocking, findings.
#include "runtime/vgpu/machine/Warp.h"

#include "runtime/vgpu/machine/Barrier.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>
#include <utility>

namespace tile::vgpu {

// While lanes are apart, a loop that keeps branching back may be waiting for the others: let them
// run now and then.
static constexpr int32_t kBranchesPerTurn = 4096;

void Warp::refillBudget() {
  branches += static_cast<uint64_t>(kBranchesPerTurn - budget);
  budget = kBranchesPerTurn;
}

void Warp::beginBlock(const Program &program) {
  static_cast<WarpState &>(*this) = {};
  mask = present;
  budget = kBranchesPerTurn;
  splits.clear();
  copies.reset();
  bulk.reset();
  acquiredMaps.clear();
  if (program.usesWgmma)
    flight.reset(program.fileBytes, program.watchesMatrices);
  activations.assign(program.recursions.size() * kLanes, {});
  keptBytes.assign(program.recursions.empty() ? 0 : kLanes, 0);
  timedOut.clear();
}

void Warp::run() {
  refillBudget();
  limit = 0; // the state may have changed while the warp was blocked
  if (!reschedule())
    return;
  if (cta->launch->setup().counting)
    interpret<true>();
  else
    interpret<false>();
}

// Counts in a register, and adds the count to the warp at the end, also when an exception abandons
// the block.
struct IssueCount {
  uint64_t &total;
  uint64_t count = 0;
  ~IssueCount() { total += count; }
};

template <bool Counting> void Warp::interpret() {
  const Op *code = cta->launch->program().code.data();
  IssueCount issued{instructions};
  for (;;) {
    const Op &op = code[pc++];
    issued.count += op.issues;
    if constexpr (Counting)
      runCounted(op);
    else
      op.run(*this, op);
    if (pc >= limit && !reschedule())
      return;
  }
}

void Warp::runCounted(const Op &op) {
  // Before it runs: an operation may change its own guard and the mask.
  auto active = static_cast<unsigned>(std::popcount(mask));
  auto executed = static_cast<unsigned>(std::popcount(guardedLanes(*this, op)));
  op.run(*this, op);
  Counters &counters = cta->countersOf(op);
  counters.waits += status != WarpStatus::Ready && status != WarpStatus::Exited;
  if (waits || !op.issues) // parked lanes will try it again
    return;
  ++counters.warpInstructions;
  counters.activeLanes += active;
  counters.executedLanes += executed;
}

void Warp::runSteps(uint32_t steps) {
  // The budget lasts over many short stretches, so that lanes apart still take turns.
  if (budget <= 0)
    refillBudget();
  limit = 0;
  if (!reschedule())
    return;
  const Op *code = cta->launch->program().code.data();
  for (bool counting = cta->launch->setup().counting; steps; --steps) {
    const Op &op = code[pc++];
    instructions += op.issues;
    if (counting)
      runCounted(op);
    else
      op.run(*this, op);
    if (pc >= limit && !reschedule())
      return;
  }
}

void Warp::jump(uint32_t target) {
  // Only backward branches can go on for ever, so only they use up the budget.
  if (target <= pc && --budget <= 0)
    limit = 0;
  pc = target;
}

bool Warp::reschedule() {
  if (status != WarpStatus::Ready)
    return false;
  if (budget <= 0 || givesWay) {
    // Give way to other warps; lanes apart take turns, so a spinning half cannot starve the one it
    // waits for.
    if (!splits.empty()) {
      if (mask)
        splits.push_back({pc, mask, waits, -1, awaited});
      mask = 0;
      rotated = true;
    }
    givesWay = false;
    limit = 0;
    return false;
  }
  return chooseSplit();
}

// Merges splits at the same operation. They no longer wait, since together they may be all that it
// needs.
static void mergeSplits(std::vector<Split> &splits) {
  for (size_t i = 0; i < splits.size(); ++i)
    for (size_t j = i + 1; j < splits.size();) {
      if (splits[i].pc != splits[j].pc || splits[i].barrier != splits[j].barrier) {
        ++j;
        continue;
      }
      splits[i].mask |= splits[j].mask;
      splits[i].awaited |= splits[j].awaited;
      splits[i].waiting = splits[i].barrier >= 0;
      splits.erase(splits.begin() + static_cast<ptrdiff_t>(j));
    }
}

bool Warp::chooseSplit() {
  if (mask)
    splits.push_back({pc, mask, waits, -1, awaited});
  mask = 0;
  waits = false;
  mergeSplits(splits);
  if (splits.empty()) {
    status = WarpStatus::Exited;
    return false;
  }
  auto isReady = [](const Split &split) { return !split.waiting; };
  auto best = std::ranges::find_if(splits, isReady);
  if (best == splits.end())
    return wakeOrReport();
  if (!rotated)
    for (auto at = best; at != splits.end(); ++at)
      if (!at->waiting && at->pc < best->pc)
        best = at;
  pc = best->pc;
  mask = best->mask;
  awaited = best->awaited;
  splits.erase(best);
  limit = kNoLimit;
  // A turn out of order lasts until the budget is used; otherwise the split stops where others are.
  if (!rotated)
    for (const Split &split : splits)
      if (split.pc > pc)
        limit = std::min(limit, split.pc);
  rotated = false;
  return true;
}

// All lanes wait for lanes that are elsewhere. Exits since then may have satisfied one of them:
// each is tried once more.
bool Warp::wakeOrReport() {
  uint32_t waitingExits = exited;
  if (waitingExits != exitedAtWait) {
    exitedAtWait = waitingExits;
    for (Split &split : splits)
      split.waiting = split.barrier >= 0;
    releaseComplete(*cta);
    return chooseSplit();
  }
  auto atBarrier = std::ranges::find_if(splits, [](const Split &s) { return s.barrier >= 0; });
  if (atBarrier != splits.end()) { // which other warps may complete
    block(WarpStatus::AtBarrier, static_cast<uint8_t>(atBarrier->barrier));
    return false;
  }
  std::string places;
  const Program &program = cta->launch->program();
  for (const Split &split : splits) {
    places += (places.empty() ? "" : "; ") + std::to_string(std::popcount(split.mask)) +
              " lanes wait at " + cta->launch->describe(program.code[split.pc]);
  }
  const Split &first = splits.front();
  stop(program.code[first.pc], FindingKind::Divergence, LaneMask{first.mask},
       "the lanes of the warp wait for each other at different instructions: " + places);
}

// The lanes of `lanes` that are in other splits and do not exit next. A barrier does not wait for
// threads that have exited, so those that are about to are not missed.
uint32_t Warp::elsewhere(uint32_t lanes) const {
  const Program &program = cta->launch->program();
  uint32_t found = 0;
  for (const Split &split : splits) {
    std::string_view next = program.lines[program.code[split.pc].instruction].spelling;
    found |= next == "ret" || next == "exit" ? 0 : split.mask & lanes;
  }
  return found;
}

void Warp::reportMissed(const Op &op, uint32_t lanes) {
  if (cta->launch->checks().sync)
    report(op, FindingKind::Divergence, LaneMask{lanes},
           "the lanes have not executed " +
               std::string(cta->launch->program().lines[op.instruction].spelling) +
               ", for which others of their warp waited, and have exited");
}

bool Warp::converged(const Op &op, uint32_t lanes) {
  // Where nobody has split off, the missing lanes are not in this warp; the operation reports what
  // it needs to.
  if ((mask & lanes) == (lanes & live()) || splits.empty()) {
    if (uint32_t missed = std::exchange(awaited, 0) & lanes & exited) [[unlikely]]
      reportMissed(op, missed);
    if (mask & (mask - 1))
      clock.converge();
    return true;
  }
  awaited |= elsewhere(lanes);
  pc -= 1;
  instructions -= op.issues; // it will be tried again
  waits = true;
  limit = 0;
  return false;
}

void Warp::waitApart(uint32_t lanes, uint8_t which) {
  splits.push_back({pc, lanes, true, static_cast<int8_t>(which)});
  mask &= ~lanes;
  limit = 0;
}

void Warp::giveWay() {
  givesWay = true;
  limit = 0;
}

void Warp::block(WarpStatus why, uint8_t which) {
  status = why;
  barrier = which;
  limit = 0;
}

bool Warp::repeats(const Op &op, FindingKind kind, LaneMask lanes) {
  int line = cta->launch->program().lines[op.instruction].line;
  for (Finding &known : cta->findings)
    if (known.kind == kind && known.ptxLine == line) {
      ++known.count;
      if (known.warp == index)
        known.lanes |= lanes.bits;
      return true;
    }
  return false;
}

void Warp::report(const Op &op, FindingKind kind, unsigned lane, const std::string &message) {
  report(op, kind, LaneMask{1u << lane}, message);
}

void Warp::report(const Op &op, FindingKind kind, LaneMask lanes, const std::string &message) {
  if (repeats(op, kind, lanes))
    return;
  auto first = static_cast<unsigned>(std::countr_zero(lanes.bits));
  Finding finding = cta->launch->findingAt(*this, op, kind, first, message);
  finding.lanes = lanes.bits;
  report(std::move(finding));
}

void Warp::report(Finding finding) {
  cta->findings.push_back(std::move(finding));
  if (cta->findings.size() >= Launch::kMaxFindings)
    throw StopCta();
}

void Warp::stop(const Op &op, FindingKind kind, unsigned lane, const std::string &message) {
  report(op, kind, lane, message);
  throw StopCta();
}

void Warp::stop(const Op &op, FindingKind kind, LaneMask lanes, const std::string &message) {
  report(op, kind, lanes, message);
  throw StopCta();
}

} // namespace tile::vgpu
