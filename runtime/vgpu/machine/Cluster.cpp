// The scheduler: chooses which warp runs and when a cluster gives way, and recognises a deadlock.
#include "runtime/vgpu/machine/Cluster.h"

#include "runtime/vgpu/machine/Barrier.h"
#include "runtime/vgpu/machine/ClusterBarrier.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/WarpRegisters.h"
#include "runtime/vgpu/machine/async/BulkTransfer.h"

#include <algorithm>
#include <bit>

#define XXH_INLINE_ALL // a warp that waits is hashed as often as it looks
#include <xxhash.h>

namespace tile::vgpu {

// A cluster that others may wait for gives way after so many backward branches, or random
// stretches.
static constexpr uint64_t kBranchesPerVisit = 16384, kRoundsPerVisit = 256, kTurnsPerLook = 16;
static constexpr uint32_t kMaxSteps = 64; // of a random stretch
// Loops that look at a clock never come back to a state. After so many rounds without an event they
// are taken to wait.
static constexpr uint32_t kQuietRounds = 8;

static uint64_t hashState(const Warp &warp) {
  uint64_t hash =
      XXH3_64bits_withSeed(warp.registers, warp.cta->launch->program().fileBytes, warp.pc);
  hash = XXH3_64bits_withSeed(&warp.mask, sizeof warp.mask, hash);
  for (const Split &split : warp.splits) {
    uint32_t state[] = {split.pc, split.mask, split.waiting};
    hash = XXH3_64bits_withSeed(state, sizeof state, hash);
  }
  return hash;
}

// A warp whose whole state comes back while nothing outside it changes will never do anything else.
// The anchor moves at powers of two, so a cycle of any length is found. Amid the turn of some lanes
// of several splits the state says nothing: it may come back before the others have had theirs.
void Cluster::watch(Warp &warp) {
  bool isAmidTurn = warp.mask && !warp.splits.empty();
  if (isAmidTurn)
    return;
  LoopWatch &loop = warp.loop;
  uint64_t state = hashState(warp);
  if (loop.events != *events) {
    loop = {*events, state, 0, false};
    return;
  }
  ++loop.rounds;
  if (state == loop.anchor)
    loop.repeats = true;
  else if (std::has_single_bit(loop.rounds))
    loop.anchor = state;
}

void Cluster::runWarp(Warp &warp, uint32_t steps) {
  if (steps)
    warp.runSteps(steps);
  else
    warp.run();
  if (warp.branches > launch->setup().maxBranches)
    warp.stop(launch->program().code[warp.mask ? warp.pc : 0], FindingKind::StepLimit, 0,
              "the warp has branched back more than " +
                  std::to_string(launch->setup().maxBranches) +
                  " times: an endless loop, or raise TILE_VGPU_MAX_BRANCHES");
  if (warp.status == WarpStatus::Exited) {
    ++*events;
    checkExit(warp);
    if (launch->checks().sync)
      checkRegisterChanges(warp);
    noteExit(warp);
    if (warp.cta->hasExited)
      checkInFlight(*warp.cta);
  }
}

// Shared memory goes with its block: copies out of it must have been waited for.
void Cluster::checkExit(Warp &warp) {
  if (!launch->checks().async)
    return;
  for (const BulkGroups::Copy &copy : warp.bulk.copies)
    if (!copy.hasRead) {
      warp.report(*copy.op, FindingKind::Async, copy.lane,
                  "the thread exits while this copy may still read its shared memory: "
                  "cp.async.bulk.wait_group.read must come first");
      return;
    }
}

// Reports asynchronous operations on the block's shared memory that nobody has waited for. Copies
// out of it that are waited for by group are the matter of the thread that issued them: see
// checkExit.
void Cluster::checkInFlight(const Cta &cta) {
  if (!launch->checks().async)
    return;
  for (const auto &operation : async.pending()) {
    bool writes = operation->writes(cta), reads = operation->reads(cta) && !operation->groupTime;
    if (writes || reads)
      operation->issuer->report(*operation->op, FindingKind::Async, operation->lane,
                                "block " + launch->blockText(cta.index) + " exits while this " +
                                    (writes ? "write to" : "read of") +
                                    " its shared memory is in flight: wait for its mbarrier, and "
                                    "for the other blocks of the cluster, first");
  }
}

void Cluster::drain() {
  while (async.completeOne(*this)) {
  }
  for (auto &cta : ctas)
    if (launch->checks().async)
      checkBytes(*cta);
}

// Gives every warp a turn. False if no warp can change anything any more.
bool Cluster::runRound(bool &allExited) {
  bool progress = false;
  uint64_t before = *events;
  for (auto &cta : ctas)
    for (Warp &warp : cta->warps) {
      bool waits = warp.loop.repeats && warp.loop.events == *events;
      if (warp.status == WarpStatus::Ready && !waits) {
        progress = true;
        runWarp(warp, 0);
      }
      allExited &= warp.status == WarpStatus::Exited;
    }
  if (*events != before)
    return true;
  for (auto &cta : ctas)
    for (Warp &warp : cta->warps)
      if (warp.status == WarpStatus::Ready)
        watch(warp);
  return progress;
}

bool Cluster::runRandomly(bool &allExited) {
  std::vector<Warp *> ready;
  for (auto &cta : ctas)
    for (Warp &warp : cta->warps) {
      allExited &= warp.status == WarpStatus::Exited;
      if (warp.status == WarpStatus::Ready && !(warp.loop.repeats && warp.loop.events == *events))
        ready.push_back(&warp);
    }
  if (ready.empty())
    return false;
  uint64_t before = *events;
  Warp &warp = *ready[choices.below(static_cast<uint32_t>(ready.size()))];
  runWarp(warp, 1 + choices.below(kMaxSteps));
  if (*events == before && warp.status == WarpStatus::Ready)
    watch(warp);
  return true;
}

bool Cluster::runTurn(bool &allExited) {
  if (cycle.repeats(*this)) {
    allExited = false;
    return false;
  }
  bool isRandom = launch->setup().schedule == Schedule::Random && !cycle.needsWholeRound();
  bool progress = isRandom ? runRandomly(allExited) : runRound(allExited);
  // What goes on by itself must go on before a state says something; recursion is kept elsewhere.
  if (progress && !allExited && launch->program().recursions.empty())
    cycle.look(*this);
  return progress && !cycle.repeats(*this);
}

uint64_t Cluster::branches() const {
  uint64_t sum = 0;
  for (const auto &cta : ctas)
    for (const Warp &warp : cta->warps)
      sum += warp.branches;
  return sum;
}

TurnEnd Cluster::advance(bool mayPause) {
  bool isRandom = launch->setup().schedule == Schedule::Random;
  uint64_t rounds = 0, turns = 0, branchesBefore = branches();
  try {
    for (;;) {
      bool allExited = true;
      uint64_t eventsBefore = *events;
      bool progress = runTurn(allExited);
      quietRounds = *events == eventsBefore && !isRandom ? quietRounds + 1 : 0;
      if (++turns % kTurnsPerLook == 0)
        launch->longRun().watch(*this);
      if (allExited) {
        drain();
        return TurnEnd::Done;
      }
      // At any time, or as late as possible: when nothing else can happen.
      bool completes = !progress || quietRounds > kQuietRounds ||
                       (isRandom && !async.empty() && choices.oneIn(4));
      if (completes && async.completeOne(*this))
        continue;
      if (!progress) {
        if (mayPause)
          return TurnEnd::Stuck;
        reportDeadlock();
        return TurnEnd::Done;
      }
      // Only blocks that can hear of each other may be waiting for one that has not started.
      bool isLong =
          isRandom ? ++rounds > kRoundsPerVisit : branches() - branchesBefore > kBranchesPerVisit;
      if (mayPause && isLong)
        return TurnEnd::Turn;
    }
  } catch (const StopCta &) {
    return TurnEnd::Done;
  }
}

unsigned Cluster::addActor(Warp &warp, const Op &op) {
  if (actors > AccessRecord::kLastActor)
    warp.stop(op, FindingKind::Async, 0,
              "more than " + std::to_string(AccessRecord::kLastActor) +
                  " warps, memory barriers and copies in a cluster are not modelled");
  return actors++;
}

// The operation at which a warp is blocked. Its pc is one past that; of diverged lanes those at a
// barrier count.
static uint32_t blockedAt(const Warp &warp) {
  for (const Split &split : warp.splits)
    if (!warp.mask && split.barrier >= 0)
      return split.pc - 1;
  return warp.pc - 1;
}

static std::string waitingText(const Cluster &cluster, const Warp &warp) {
  const Program &program = cluster.launch->program();
  std::string text = cluster.ctas.size() > 1
                         ? "block " + cluster.launch->blockText(warp.cta->index) + " warp "
                         : "warp ";
  text += std::to_string(warp.index);
  if (warp.status == WarpStatus::AtBarrier) {
    const Barrier &barrier = warp.cta->barriers[warp.barrier];
    return text + " waits at " + cluster.launch->describe(program.code[blockedAt(warp)]) +
           " for barrier " + std::to_string(warp.barrier) + " (" + std::to_string(barrier.arrived) +
           " of " + std::to_string(expectedThreads(*warp.cta, barrier)) + " threads have arrived)";
  }
  if (warp.status == WarpStatus::AtMatrix)
    return text + " waits at " + cluster.launch->describe(program.code[warp.pc - 1]) +
           " for the other warps of its warpgroup";
  if (warp.status == WarpStatus::AtClusterBarrier)
    return text + " waits at " + cluster.launch->describe(program.code[warp.pc - 1]) +
           " for the cluster's barrier (" + std::to_string(cluster.barrier.arrived) + " of " +
           std::to_string(expectedThreads(cluster)) + " threads have arrived)";
  uint32_t at = warp.mask || warp.splits.empty() ? warp.pc : warp.splits.front().pc;
  if (const MbarrierWait &wait = warp.mbarrierWait; wait.owner) {
    auto barrier = wait.owner->mbarriers.find(wait.address);
    if (barrier != wait.owner->mbarriers.end())
      return text + " waits at " + cluster.launch->describe(program.code[at]) + " for phase " +
             std::to_string(wait.phase) + " of " + describe(wait.address, barrier->second);
  }
  if (std::string wait = registerWaitText(warp, program.code[at]); !wait.empty())
    return text + " waits at " + cluster.launch->describe(program.code[at]) + wait;
  return text + " loops at " + cluster.launch->describe(program.code[at]) +
         " without a change of anything it reads";
}

void Cluster::reportDeadlock(const std::string &more) {
  std::string who;
  Warp *first = nullptr;
  for (auto &cta : ctas)
    for (Warp &warp : cta->warps) {
      if (warp.status == WarpStatus::Exited)
        continue;
      who += (first ? "; " : "") + waitingText(*this, warp);
      first = first ? first : &warp;
    }
  if (!first)
    return;
  bool blocked = first->status != WarpStatus::Ready;
  uint32_t at = first->mask || first->splits.empty() ? first->pc : first->splits.front().pc;
  uint32_t mask = first->mask || first->splits.empty() ? first->mask : first->splits.front().mask;
  try {
    first->stop(launch->program().code[blocked ? blockedAt(*first) : at], FindingKind::Deadlock,
                static_cast<unsigned>(std::countr_zero(mask ? mask : 1u)),
                "deadlock: " + who + more);
  } catch (const StopCta &) {
  }
}

} // namespace tile::vgpu
