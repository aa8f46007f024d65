// The handlers of memory barriers: init, arrive, expect_tx, test_wait and their like.
#include "runtime/vgpu/machine/async/Mbarrier.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/OpForm.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/InitCheck.h"
#include "runtime/vgpu/machine/access/SharedAddress.h"
#include "runtime/vgpu/machine/async/MbarrierForm.h"

#include <algorithm>

namespace tile::vgpu {

std::string describe(uint32_t address, const Mbarrier &barrier) {
  char text[160];
  std::snprintf(text, sizeof text,
                "mbarrier 0x%x (in phase %llu, %u of %u arrivals pending, %lld bytes outstanding)",
                address, static_cast<unsigned long long>(barrier.phase), barrier.pending,
                barrier.expected, static_cast<long long>(barrier.outstanding));
  return text;
}

Mbarrier &requireMbarrier(Warp &warp, const Op &op, unsigned lane, Cta &owner, uint32_t address) {
  auto found = owner.mbarriers.find(address);
  if (found != owner.mbarriers.end())
    return found->second;
  char text[32];
  std::snprintf(text, sizeof text, "0x%x", address);
  warp.stop(op, FindingKind::Async, lane,
            "there is no mbarrier at shared address " + std::string(text) +
                ": mbarrier.init must come first");
}

namespace {

void endPhase(Cta &owner, Mbarrier &barrier) {
  barrier.arriving.own.ordered.raise(barrier.actor, barrier.time());
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.completed.join(barrier.arriving);
  barrier.arriving.clear();
  ++*owner.cluster->events;
}

// Whatever changes the counts may end the phase.
void settle(Cta &owner, Mbarrier &barrier) {
  if (barrier.pending == 0 && barrier.outstanding == 0)
    endPhase(owner, barrier);
}

void takeArrivals(Warp &warp, const Op &op, unsigned lane, Cta &owner, uint32_t address,
                  Mbarrier &barrier, uint32_t count) {
  if (count == 0 || count > barrier.pending)
    warp.stop(op, FindingKind::Async, lane,
              std::to_string(count) + " arrivals are too many for " + describe(address, barrier));
  barrier.pending -= count;
  ++*owner.cluster->events;
  settle(owner, barrier);
}

void changeBytes(Warp &warp, const Op &op, unsigned lane, uint32_t address, Mbarrier &barrier,
                 int64_t bytes) {
  barrier.outstanding += bytes;
  barrier.lastWarp = &warp;
  barrier.lastOp = &op;
  int64_t most = Mbarrier::kMaxCount;
  if (barrier.outstanding > most || barrier.outstanding < -most)
    warp.stop(op, FindingKind::Async, lane,
              "the bytes outstanding leave the range of 20 bits: " + describe(address, barrier));
}

} // namespace

void completeBytes(Warp &issuer, const Op &op, unsigned lane, Cta &owner, uint32_t address,
                   uint32_t bytes) {
  Mbarrier &barrier = requireMbarrier(issuer, op, lane, owner, address);
  changeBytes(issuer, op, lane, address, barrier, -int64_t{bytes});
  settle(owner, barrier);
}

void checkBytes(Cta &cta) {
  for (const auto &[address, barrier] : cta.mbarriers)
    if (barrier.outstanding != 0)
      barrier.lastWarp->report(*barrier.lastOp, FindingKind::Async, 0,
                               "the block exits with bytes outstanding at " +
                                   describe(address, barrier) +
                                   ": expect_tx and copies must name the same number");
}

void checkSeen(Warp &warp, const Op &op, unsigned lane, uint32_t address, const Mbarrier &barrier) {
  if (barrier.seen < barrier.phase && warp.cta->launch->checks().async)
    warp.report(op, FindingKind::Async, lane,
                "arrives at " + describe(address, barrier) +
                    " while nobody has seen the phase before it end: a test_wait or try_wait must "
                    "have found it complete");
}

void arriveSilently(Warp &warp, const Op &op, unsigned lane, Cta &owner, uint32_t address) {
  Mbarrier &barrier = requireMbarrier(warp, op, lane, owner, address);
  checkSeen(warp, op, lane, address, barrier);
  takeArrivals(warp, op, lane, owner, address, barrier, 1);
}

namespace {

// The place of a lane's barrier, in shared memory and aligned.
SharedAddress barrierAddress(Warp &warp, const Op &op, const MbarrierForm &form, unsigned lane,
                             uint64_t address) {
  if (form.generic)
    address -= kSharedWindow;
  SharedAddress where = sharedAddressOf(warp, address);
  uint64_t offset = uint64_t{where.address} - kSharedBase;
  if (!where.cta || offset > warp.cta->launch->sharedBytes() ||
      warp.cta->launch->sharedBytes() - offset < 8)
    warp.stop(op, FindingKind::OutOfBounds, lane, "the mbarrier is not in shared memory");
  if (where.address % 8)
    warp.stop(op, FindingKind::Misaligned, lane, "an mbarrier must be aligned to 8 bytes");
  if (where.cta != warp.cta && !form.remote)
    warp.stop(op, FindingKind::OutOfBounds, lane,
              "the mbarrier is in another block of the cluster: use .shared::cluster");
  if (where.cta->hasExited)
    warp.stop(op, FindingKind::UseAfterFree, lane,
              "the mbarrier's block " + warp.cta->launch->blockText(where.cta->index) +
                  " has exited");
  return where;
}

// Setting a barrier up, or taking it down, is a write to its bytes.
void write(Warp &warp, const Op &op, unsigned lane, const SharedAddress &where) {
  if (where.cta->races)
    where.cta->races->access(accessorOf(warp, op, lane, AccessKind::Write),
                             where.address - kSharedBase, 8, false);
  warp.clock.touch(1u << lane);
}

bool isInitialisedBefore(Warp &warp, const Op &op, unsigned lane, const SharedAddress &where,
                         const Mbarrier &barrier) {
  return !where.cta->races || !warp.cta->launch->checks().async ||
         happenedBefore(barrier.initialised, accessorOf(warp, op, lane, AccessKind::Atomic));
}

// The barrier, which must have been initialised before this.
Mbarrier &use(Warp &warp, const Op &op, unsigned lane, const SharedAddress &where) {
  Mbarrier &barrier = requireMbarrier(warp, op, lane, *where.cta, where.address);
  if (!isInitialisedBefore(warp, op, lane, where, barrier))
    warp.report(op, FindingKind::Async, lane,
                "nothing orders this after mbarrier.init of " + describe(where.address, barrier) +
                    ": a barrier, or a fence and a flag, must stand between them");
  return barrier;
}

void initialise(Warp &warp, const Op &op, unsigned lane, const SharedAddress &where,
                uint32_t count) {
  if (count == 0 || count > Mbarrier::kMaxCount)
    warp.stop(op, FindingKind::Async, lane,
              "an mbarrier counts 1 to 1048575 arrivals, not " + std::to_string(count));
  Mbarriers &barriers = where.cta->mbarriers;
  if (auto live = barriers.find(where.address); live != barriers.end())
    warp.report(op, FindingKind::Async, lane,
                "initialises " + describe(where.address, live->second) +
                    " again: mbarrier.inval it first");
  write(warp, op, lane, where);
  Mbarrier &barrier = barriers[where.address] = {};
  barrier.pending = barrier.expected = count;
  barrier.actor = warp.cta->cluster->addActor(warp, op);
  barrier.initialised = accessorOf(warp, op, lane, AccessKind::Write).record;
  if (warp.shadow)
    where.cta->sharedValid.setRange(where.address - kSharedBase, 8, true);
}

void invalidate(Warp &warp, const Op &op, unsigned lane, const SharedAddress &where) {
  requireMbarrier(warp, op, lane, *where.cta, where.address);
  write(warp, op, lane, where);
  where.cta->mbarriers.erase(where.address);
}

// The result of arrive: the phase it counted in, and the arrivals pending before it.
constexpr unsigned kPhaseShift = 20;
uint64_t stateOf(const Mbarrier &barrier) { return barrier.phase << kPhaseShift | barrier.pending; }

uint64_t arrive(Warp &warp, const Op &op, const MbarrierForm &form, unsigned lane,
                const SharedAddress &where, uint32_t operand) {
  Mbarrier &barrier = use(warp, op, lane, where);
  checkSeen(warp, op, lane, where.address, barrier);
  if (form.relaxed)
    warp.clock.arriveRelaxed(barrier.arriving);
  else
    warp.clock.arrive(barrier.arriving, warp.mask);
  uint64_t state = stateOf(barrier);
  uint32_t count = form.expects ? 1 : operand;
  if (form.expects)
    changeBytes(warp, op, lane, where.address, barrier, operand);
  if (form.action == MbarrierAction::Drop) {
    if (count > barrier.expected)
      warp.stop(op, FindingKind::Async, lane,
                "drops " + std::to_string(count) + " arrivals of " +
                    describe(where.address, barrier));
    barrier.expected -= count;
  }
  if (form.noComplete && count >= barrier.pending)
    warp.stop(op, FindingKind::Async, lane,
              "arrive.noComplete ends the phase of " + describe(where.address, barrier));
  takeArrivals(warp, op, lane, *where.cta, where.address, barrier, count);
  return state;
}

bool isComplete(Warp &warp, const Op &op, const MbarrierForm &form, unsigned lane,
                const SharedAddress &where, uint64_t wanted) {
  Mbarrier &barrier = use(warp, op, lane, where);
  uint64_t asked = wanted >> kPhaseShift;
  if (!form.parity && barrier.phase > asked + 1 && warp.cta->launch->checks().async)
    warp.report(op, FindingKind::Async, lane,
                "waits for phase " + std::to_string(asked) + " of " +
                    describe(where.address, barrier) + ", which is " +
                    std::to_string(barrier.phase - asked) +
                    " phases old: PTX knows the present one and the one before");
  bool complete = form.parity ? (barrier.phase & 1) != (wanted & 1) : barrier.phase > asked;
  if (complete)
    barrier.seen = form.parity ? barrier.phase : std::max(barrier.seen, asked + 1);
  if (complete && form.relaxed)
    warp.clock.waitRelaxed(barrier.completed);
  else if (complete)
    warp.clock.wait(barrier.completed, warp.mask);
  if (!complete)
    warp.mbarrierWait = {where.cta, where.address, barrier.phase};
  return complete;
}

void readBarrierAddresses(Warp &warp, const Op &op, uint32_t row, const MbarrierForm &form,
                          uint64_t (&address)[kLanes]) {
  readAddresses(warp, row, form.wide, op.imm, address);
  if (warp.shadow)
    checkAddress(warp, op, row);
}

} // namespace

void updateMbarrier(Warp &warp, const Op &op) {
  MbarrierForm form = formOf<MbarrierForm>(op);
  uint64_t address[kLanes];
  readBarrierAddresses(warp, op, op.rows[0], form, address);
  const uint32_t *operand = op.sources > 1 ? warp.row<uint32_t>(op.rows[1]) : nullptr;
  forLanes(warp.mask, [&](unsigned lane) {
    SharedAddress where = barrierAddress(warp, op, form, lane, address[lane]);
    switch (form.action) {
    case MbarrierAction::Init:
      return initialise(warp, op, lane, where, operand[lane]);
    case MbarrierAction::Invalidate:
      return invalidate(warp, op, lane, where);
    case MbarrierAction::Expect: {
      Mbarrier &barrier = use(warp, op, lane, where);
      return changeBytes(warp, op, lane, where.address, barrier, operand[lane]);
    }
    default:
      use(warp, op, lane, where);
      return completeBytes(warp, op, lane, *where.cta, where.address, operand[lane]);
    }
  });
}

namespace {

// PTX allows it, but what ended the phase has not waited for the lanes above, which arrive in the
// next one.
void reportSplitArrival(Warp &warp, const Op &op, unsigned lane, uint32_t address,
                        const Mbarrier &barrier) {
  if (warp.cta->launch->checks().async)
    warp.report(op, FindingKind::Async, lane,
                "lower lanes of this instruction end a phase of " + describe(address, barrier) +
                    ", and this one arrives in the next: mbarrier.init must count all lanes");
}

} // namespace

void arriveAtMbarrier(Warp &warp, const Op &op) {
  MbarrierForm form = formOf<MbarrierForm>(op);
  uint64_t address[kLanes];
  readBarrierAddresses(warp, op, op.rows[1], form, address);
  const uint32_t *operand = warp.row<uint32_t>(op.rows[2]);
  uint64_t *state = warp.row<uint64_t>(op.rows[0]);
  const Mbarrier *ended = nullptr; // by a lower lane
  forLanes(warp.mask, [&](unsigned lane) {
    SharedAddress where = barrierAddress(warp, op, form, lane, address[lane]);
    const Mbarrier &barrier = use(warp, op, lane, where);
    if (&barrier == ended)
      reportSplitArrival(warp, op, lane, where.address, barrier);
    uint64_t phase = barrier.phase;
    state[lane] = arrive(warp, op, form, lane, where, operand[lane]);
    if (barrier.phase != phase)
      ended = &barrier;
  });
  if (warp.shadow)
    warp.shadow.set(op.rows[0], kFullMask, warp.mask);
}

namespace {

// A wait that has a time limit may end at any time: under the random schedule now and then, under
// the lazy one at the first try, so that kernels which do not look at the result are found out.
bool timesOut(Warp &warp, const Op &op) {
  Cluster &cluster = *warp.cta->cluster;
  Schedule schedule = cluster.launch->setup().schedule;
  if (schedule == Schedule::Random)
    return cluster.choices.oneIn(8);
  if (schedule != Schedule::Lazy || std::ranges::count(warp.timedOut, &op))
    return false;
  warp.timedOut.push_back(&op);
  return true;
}

// The active lanes that name the same barrier and want the same as the first of them.
template <class T>
uint32_t lanesLikeFirst(const Warp &warp, const uint64_t (&address)[kLanes], const T *wanted) {
  auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
  uint32_t alike = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    alike |= uint32_t{address[lane] == address[first] && wanted[lane] == wanted[first]} << lane;
  return alike & warp.mask;
}

// The lanes that find what the first one finds; in a finding each has its own part.
uint32_t lanesAnsweredByFirst(Warp &warp, const Op &op, const MbarrierForm &form,
                              const uint64_t (&address)[kLanes]) {
  auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
  SharedAddress where = barrierAddress(warp, op, form, first, address[first]);
  const Mbarrier &barrier = requireMbarrier(warp, op, first, *where.cta, where.address);
  if (!isInitialisedBefore(warp, op, first, where, barrier))
    return 1u << first;
  return form.parity ? lanesLikeFirst(warp, address, warp.row<uint32_t>(op.rows[2]))
                     : lanesLikeFirst(warp, address, warp.row<uint64_t>(op.rows[2]));
}

} // namespace

void waitForMbarrier(Warp &warp, const Op &op) {
  MbarrierForm form = formOf<MbarrierForm>(op);
  uint64_t address[kLanes];
  readBarrierAddresses(warp, op, op.rows[1], form, address);
  uint32_t complete = 0;
  warp.mbarrierWait = {};
  bool tooSoon = form.action == MbarrierAction::TryWait && timesOut(warp, op);
  auto look = [&](unsigned lane) {
    uint64_t wanted =
        form.parity ? warp.row<uint32_t>(op.rows[2])[lane] : warp.row<uint64_t>(op.rows[2])[lane];
    SharedAddress where = barrierAddress(warp, op, form, lane, address[lane]);
    return !tooSoon && isComplete(warp, op, form, lane, where, wanted);
  };
  uint32_t alike = lanesAnsweredByFirst(warp, op, form, address);
  if (look(static_cast<unsigned>(std::countr_zero(warp.mask))))
    complete = alike;
  forLanes(warp.mask & ~alike, [&](unsigned lane) { complete |= uint32_t{look(lane)} << lane; });
  mergeMask(warp.predicate(op.rows[0]), complete, warp.mask);
  if (warp.shadow)
    warp.shadow.set(op.rows[0], kFullMask, warp.mask);
  if (tooSoon) // the next try may find something else though nothing has changed
    ++*warp.cta->cluster->events;
  if (complete != warp.mask)
    warp.giveWay();
  else
    std::erase(warp.timedOut, &op);
}

} // namespace tile::vgpu
