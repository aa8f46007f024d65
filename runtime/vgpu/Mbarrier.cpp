// The instructions of memory barriers.
#include "runtime/vgpu/Mbarrier.h"

#include "runtime/vgpu/Access.h"
#include "runtime/vgpu/Decode.h"
#include "runtime/vgpu/InitCheck.h"
#include "runtime/vgpu/Lanes.h"
#include "runtime/vgpu/Launch.h"
#include "runtime/vgpu/SharedPlace.h"

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
  barrier.arriving.now.known.raise(barrier.actor, barrier.time());
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

void arriveSilently(Warp &warp, const Op &op, unsigned lane, Cta &owner, uint32_t address) {
  Mbarrier &barrier = requireMbarrier(warp, op, lane, owner, address);
  takeArrivals(warp, op, lane, owner, address, barrier, 1);
}

namespace {

enum class Action : uint8_t { Init, Invalidate, Expect, Complete, Arrive, Drop, Test, TryWait };

// Op::a of an instruction.
struct Form {
  Action action = Action::Init;
  bool wide = false;       // the address is 64 bits wide
  bool generic = false;    // and generic
  bool expects = false;    // arrive.expect_tx
  bool noComplete = false; // the phase must not end
  bool relaxed = false;    // orders nothing
  bool parity = false;     // waits for a parity, else for a state
  bool remote = false;     // may be in another block

  uint32_t pack() const {
    return static_cast<uint32_t>(action) | wide << 8 | generic << 9 | expects << 10 |
           noComplete << 11 | relaxed << 12 | parity << 13 | remote << 14;
  }
  static Form unpack(uint32_t bits) {
    auto has = [&](unsigned bit) { return (bits >> bit & 1) != 0; };
    return {static_cast<Action>(bits & 0xff),
            has(8),
            has(9),
            has(10),
            has(11),
            has(12),
            has(13),
            has(14)};
  }
};

// The place of a lane's barrier, in shared memory and aligned.
SharedPlace barrierPlace(Warp &warp, const Op &op, const Form &form, unsigned lane,
                         uint64_t address) {
  if (form.generic)
    address -= kSharedWindow;
  SharedPlace place = placeOf(warp, address);
  uint64_t offset = uint64_t{place.address} - kSharedBase;
  if (!place.cta || offset + 8 > warp.cta->launch->sharedBytes() || offset >> 32)
    warp.stop(op, FindingKind::OutOfBounds, lane, "the mbarrier is not in shared memory");
  if (place.address % 8)
    warp.stop(op, FindingKind::Misaligned, lane, "an mbarrier must be aligned to 8 bytes");
  if (place.cta != warp.cta && !form.remote)
    warp.stop(op, FindingKind::OutOfBounds, lane,
              "the mbarrier is in another block of the cluster: use .shared::cluster");
  if (place.cta->hasExited)
    warp.stop(op, FindingKind::UseAfterFree, lane,
              "the mbarrier's block " + warp.cta->launch->blockText(place.cta->index) +
                  " has exited");
  return place;
}

// Setting a barrier up, or taking it down, is a write to its bytes.
void write(Warp &warp, const Op &op, unsigned lane, const SharedPlace &place) {
  if (place.cta->races)
    place.cta->races->access(accessorOf(warp, op, lane, AccessKind::Write),
                             place.address - kSharedBase, 8, false);
  warp.clock.touch(1u << lane);
}

bool isInitialisedBefore(Warp &warp, const Op &op, unsigned lane, const SharedPlace &place,
                         const Mbarrier &barrier) {
  return !place.cta->races || !warp.cta->launch->checks().async ||
         happenedBefore(barrier.initialised, accessorOf(warp, op, lane, AccessKind::Atomic));
}

// The barrier, which must have been initialised before this.
Mbarrier &use(Warp &warp, const Op &op, unsigned lane, const SharedPlace &place) {
  Mbarrier &barrier = requireMbarrier(warp, op, lane, *place.cta, place.address);
  if (!isInitialisedBefore(warp, op, lane, place, barrier))
    warp.report(op, FindingKind::Async, lane,
                "nothing orders this after mbarrier.init of " + describe(place.address, barrier) +
                    ": a barrier, or a fence and a flag, must stand between them");
  return barrier;
}

void initialise(Warp &warp, const Op &op, unsigned lane, const SharedPlace &place, uint32_t count) {
  if (count == 0 || count > Mbarrier::kMaxCount)
    warp.stop(op, FindingKind::Async, lane,
              "an mbarrier counts 1 to 1048575 arrivals, not " + std::to_string(count));
  Mbarriers &barriers = place.cta->mbarriers;
  if (auto live = barriers.find(place.address); live != barriers.end())
    warp.report(op, FindingKind::Async, lane,
                "initialises " + describe(place.address, live->second) +
                    " again: mbarrier.inval it first");
  write(warp, op, lane, place);
  Mbarrier &barrier = barriers[place.address] = {};
  barrier.pending = barrier.expected = count;
  barrier.actor = warp.cta->cluster->addActor(warp, op);
  barrier.initialised = accessorOf(warp, op, lane, AccessKind::Write).stamp;
  if (warp.shadow)
    place.cta->sharedValid.setRange(place.address - kSharedBase, 8, true);
}

void invalidate(Warp &warp, const Op &op, unsigned lane, const SharedPlace &place) {
  requireMbarrier(warp, op, lane, *place.cta, place.address);
  write(warp, op, lane, place);
  place.cta->mbarriers.erase(place.address);
}

// What arrive returns: the phase it counted in, and the arrivals pending before it.
constexpr unsigned kPhaseShift = 20;
uint64_t stateOf(const Mbarrier &barrier) { return barrier.phase << kPhaseShift | barrier.pending; }

uint64_t arrive(Warp &warp, const Op &op, const Form &form, unsigned lane, const SharedPlace &place,
                uint32_t operand) {
  Mbarrier &barrier = use(warp, op, lane, place);
  if (form.relaxed)
    warp.clock.arriveRelaxed(barrier.arriving);
  else
    warp.clock.arrive(barrier.arriving, warp.mask);
  uint64_t state = stateOf(barrier);
  uint32_t count = form.expects ? 1 : operand;
  if (form.expects)
    changeBytes(warp, op, lane, place.address, barrier, operand);
  if (form.action == Action::Drop) {
    if (count > barrier.expected)
      warp.stop(op, FindingKind::Async, lane,
                "drops " + std::to_string(count) + " arrivals of " +
                    describe(place.address, barrier));
    barrier.expected -= count;
  }
  if (form.noComplete && count >= barrier.pending)
    warp.stop(op, FindingKind::Async, lane,
              "arrive.noComplete ends the phase of " + describe(place.address, barrier));
  takeArrivals(warp, op, lane, *place.cta, place.address, barrier, count);
  return state;
}

bool isComplete(Warp &warp, const Op &op, const Form &form, unsigned lane, const SharedPlace &place,
                uint64_t wanted) {
  Mbarrier &barrier = use(warp, op, lane, place);
  bool complete =
      form.parity ? (barrier.phase & 1) != (wanted & 1) : barrier.phase > wanted >> kPhaseShift;
  if (complete && form.relaxed)
    warp.clock.waitRelaxed(barrier.completed);
  else if (complete)
    warp.clock.wait(barrier.completed, warp.mask);
  if (!complete)
    warp.mbarrierWait = {place.cta, place.address, barrier.phase};
  return complete;
}

void readBarrierAddresses(Warp &warp, const Op &op, uint32_t row, const Form &form,
                          uint64_t (&address)[kLanes]) {
  readAddresses(warp, row, form.wide, op.imm, address);
  if (warp.shadow)
    checkAddress(warp, op, row);
}

// Rows: address, operand. Op::a: the form.
void runUpdate(Warp &warp, const Op &op) {
  Form form = Form::unpack(op.a);
  uint64_t address[kLanes];
  readBarrierAddresses(warp, op, op.rows[0], form, address);
  const uint32_t *operand = op.sources > 1 ? warp.row<uint32_t>(op.rows[1]) : nullptr;
  forLanes(warp.mask, [&](unsigned lane) {
    SharedPlace place = barrierPlace(warp, op, form, lane, address[lane]);
    switch (form.action) {
    case Action::Init:
      return initialise(warp, op, lane, place, operand[lane]);
    case Action::Invalidate:
      return invalidate(warp, op, lane, place);
    case Action::Expect: {
      Mbarrier &barrier = use(warp, op, lane, place);
      return changeBytes(warp, op, lane, place.address, barrier, operand[lane]);
    }
    default:
      use(warp, op, lane, place);
      return completeBytes(warp, op, lane, *place.cta, place.address, operand[lane]);
    }
  });
}

// PTX allows it, but what ended the phase has not waited for the lanes above, which arrive in the next one.
void reportSplitArrival(Warp &warp, const Op &op, unsigned lane, uint32_t address,
                        const Mbarrier &barrier) {
  if (warp.cta->launch->checks().async)
    warp.report(op, FindingKind::Async, lane,
                "lower lanes of this instruction end a phase of " + describe(address, barrier) +
                    ", and this one arrives in the next: mbarrier.init must count all lanes");
}

// Rows: state, address, operand.
void runArrive(Warp &warp, const Op &op) {
  Form form = Form::unpack(op.a);
  uint64_t address[kLanes];
  readBarrierAddresses(warp, op, op.rows[1], form, address);
  const uint32_t *operand = warp.row<uint32_t>(op.rows[2]);
  uint64_t *state = warp.row<uint64_t>(op.rows[0]);
  const Mbarrier *ended = nullptr; // by a lower lane
  forLanes(warp.mask, [&](unsigned lane) {
    SharedPlace place = barrierPlace(warp, op, form, lane, address[lane]);
    const Mbarrier &barrier = use(warp, op, lane, place);
    if (&barrier == ended)
      reportSplitArrival(warp, op, lane, place.address, barrier);
    uint64_t phase = barrier.phase;
    state[lane] = arrive(warp, op, form, lane, place, operand[lane]);
    if (barrier.phase != phase)
      ended = &barrier;
  });
  if (warp.shadow)
    warp.shadow.set(op.rows[0], kFullMask, warp.mask);
}

// A wait that has a time limit may end at any time: under the random schedule now and then, under the lazy one at the
// first try, so that kernels which do not look at the result are found out.
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
uint32_t lanesAnsweredByFirst(Warp &warp, const Op &op, const Form &form,
                              const uint64_t (&address)[kLanes]) {
  auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
  SharedPlace place = barrierPlace(warp, op, form, first, address[first]);
  const Mbarrier &barrier = requireMbarrier(warp, op, first, *place.cta, place.address);
  if (!isInitialisedBefore(warp, op, first, place, barrier))
    return 1u << first;
  return form.parity ? lanesLikeFirst(warp, address, warp.row<uint32_t>(op.rows[2]))
                     : lanesLikeFirst(warp, address, warp.row<uint64_t>(op.rows[2]));
}

// Rows: predicate, address, state (64 bits) or parity.
void runWait(Warp &warp, const Op &op) {
  Form form = Form::unpack(op.a);
  uint64_t address[kLanes];
  readBarrierAddresses(warp, op, op.rows[1], form, address);
  uint32_t complete = 0;
  warp.mbarrierWait = {};
  bool tooSoon = form.action == Action::TryWait && timesOut(warp, op);
  auto look = [&](unsigned lane) {
    uint64_t wanted =
        form.parity ? warp.row<uint32_t>(op.rows[2])[lane] : warp.row<uint64_t>(op.rows[2])[lane];
    SharedPlace place = barrierPlace(warp, op, form, lane, address[lane]);
    return !tooSoon && isComplete(warp, op, form, lane, place, wanted);
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

struct PendingCount {
  uint32_t operator()(uint64_t state) const { return state & Mbarrier::kMaxCount; }
};

void takeSpace(Decoder &decoder, Suffixes &suffixes, Form &form) {
  std::string_view space = suffixes.takeOneOf({"shared::cta", "shared::cluster", "shared"});
  form.generic = space.empty();
  form.remote = form.generic || space == "shared::cluster";
  if (suffixes.takeType() != ScalarType::B64)
    decoder.unsupported("an mbarrier is .b64");
}

// A variable that is named is in shared memory.
Decoder::Address takeAddress(Decoder &decoder, const Operand &operand, Form &form) {
  Decoder::Address address = decoder.address(operand);
  form.wide = address.bytes == 8;
  form.generic &= !address.known;
  return address;
}

void takeOrder(Suffixes &suffixes, Form &form) {
  form.relaxed = suffixes.take("relaxed");
  suffixes.takeOneOf({"release", "acquire"});
  suffixes.takeOneOf({"cta", "cluster"});
}

void emitUpdate(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes, Form form) {
  takeOrder(suffixes, form);
  takeSpace(decoder, suffixes, form);
  bool hasOperand = form.action != Action::Invalidate;
  decoder.wantOperands(instruction, 1u + hasOperand);
  Decoder::Address address = takeAddress(decoder, instruction.operands[0], form);
  std::vector<uint32_t> sources = {address.row};
  if (hasOperand)
    sources.push_back(decoder.source(instruction.operands[1], ScalarType::U32));
  decoder.emitWide(runUpdate, {}, sources, address.offset, form.pack(), 0, kOwnValidity);
}

void emitArrive(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes, Form form) {
  form.expects = suffixes.take("expect_tx");
  form.noComplete = suffixes.take("noComplete");
  decoder.program().releases = true;
  takeOrder(suffixes, form);
  takeSpace(decoder, suffixes, form);
  // The first operand is the state, or _ where nobody wants it, as nobody can of a barrier in another block.
  const auto &operands = instruction.operands;
  if (operands.empty() || operands[0].kind == Operand::Kind::Address)
    decoder.malformed("expected a register for the state, or _");
  bool hasState = operands[0].kind != Operand::Kind::Sink;
  if (hasState && form.remote && !form.generic)
    decoder.malformed("with .shared::cluster the state must be _");
  constexpr size_t at = 1;
  bool needsOperand = form.expects || form.noComplete;
  decoder.wantOperands(instruction, at + 1 + needsOperand, at + 2);
  if (!needsOperand && operands.size() > at + 1)
    decoder.require(90, 78, "a count");
  Decoder::Address address = takeAddress(decoder, operands[at], form);
  uint32_t operand = operands.size() > at + 1 ? decoder.source(operands[at + 1], ScalarType::U32)
                                              : decoder.constant(1, 4);
  uint32_t state = hasState ? decoder.target(operands[0], ScalarType::B64) : decoder.sink(8);
  decoder.emit(runArrive, {state}, {address.row, operand}, address.offset, form.pack(), 0,
               kOwnValidity);
}

void emitWait(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes, Form form) {
  form.parity = suffixes.take("parity");
  takeOrder(suffixes, form);
  takeSpace(decoder, suffixes, form);
  form.remote = false;
  decoder.wantOperands(instruction, 3, form.action == Action::TryWait ? 4 : 3);
  const auto &operands = instruction.operands;
  Decoder::Address address = takeAddress(decoder, operands[1], form);
  uint32_t wanted = decoder.source(operands[2], form.parity ? ScalarType::U32 : ScalarType::B64);
  if (operands.size() > 3)
    decoder.source(operands[3], ScalarType::U32); // the time limit: any time is as good
  decoder.emit(runWait, {decoder.target(operands[0], ScalarType::Pred)}, {address.row, wanted},
               address.offset, form.pack(), 0, kOwnValidity);
}

void decodeMbarrier(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  Form form;
  static constexpr std::pair<std::string_view, Action> updates[] = {
      {"init", Action::Init},
      {"inval", Action::Invalidate},
      {"complete_tx", Action::Complete},
  };
  for (auto [name, action] : updates)
    if (suffixes.take(name)) {
      form.action = action;
      return emitUpdate(decoder, instruction, suffixes, form);
    }
  for (auto [name, action] : {std::pair("arrive", Action::Arrive), {"arrive_drop", Action::Drop}})
    if (suffixes.take(name)) {
      form.action = action;
      return emitArrive(decoder, instruction, suffixes, form);
    }
  for (auto [name, action] : {std::pair("test_wait", Action::Test), {"try_wait", Action::TryWait}})
    if (suffixes.take(name)) {
      form.action = action;
      return emitWait(decoder, instruction, suffixes, form);
    }
  if (suffixes.take("expect_tx")) {
    form.action = Action::Expect;
    return emitUpdate(decoder, instruction, suffixes, form);
  }
  if (!suffixes.take("pending_count") || suffixes.takeType() != ScalarType::B64)
    decoder.unsupported("expected init, inval, arrive, arrive_drop, expect_tx, complete_tx, "
                        "test_wait, try_wait or pending_count");
  decoder.wantOperands(instruction, 2);
  decoder.emit(laneOp<PendingCount, uint32_t, uint64_t>,
               {decoder.target(instruction.operands[0], ScalarType::U32)},
               {decoder.source(instruction.operands[1], ScalarType::B64)});
}

} // namespace

void registerMbarrier(OpcodeTable &table) { table["mbarrier"] = decodeMbarrier; }

} // namespace tile::vgpu
