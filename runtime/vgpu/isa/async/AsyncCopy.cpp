// cp.async and its groups.
#include "runtime/vgpu/machine/async/AsyncCopy.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/isa/async/CopyForms.h"
#include "runtime/vgpu/ptx/ModifierWords.h"

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/isa/async/QuickCopy.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/CountAccess.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

#include <algorithm>
#include <bit>

namespace tile::vgpu {

void AsyncCopies::reset() {
  pending.clear();
  std::ranges::fill(commits, 0u);
  std::ranges::fill(lastSources, LastSource{});
}

std::optional<uint64_t> AsyncCopies::stepTo(const Op &op, uint64_t address) {
  LastSource &last = lastSources[op.instruction % std::size(lastSources)];
  std::optional<uint64_t> step;
  if (last.op == &op)
    step = address - last.address;
  last = {&op, address};
  return step;
}

// The bytes that a destination holds while its copy is in flight: NaN in every float format.
static constexpr uint8_t kPoison = 0xff;

static void moveLane(Warp &warp, const AsyncCopies::Record &record, unsigned lane) {
  Cta &cta = *warp.cta;
  uint32_t target = record.target[lane], copied = record.sourceBytes[lane];
  uint8_t *to = cta.sharedHost(target, record.bytes);
  if (copied) {
    requireGlobal(warp, *record.op, lane, record.source[lane], copied);
    countRange(*cta.launch, AccessKind::Read, record.source[lane], copied);
    std::memcpy(to, cta.launch->memory().host(record.source[lane], copied), copied);
  }
  std::memset(to + copied, 0, record.bytes - copied);
  if (warp.shadow) {
    uint64_t bit = target - kSharedBase;
    cta.sharedValid.setRange(bit, record.bytes, true);
    if (copied)
      cta.sharedValid.copyRange(bit, cta.launch->memory().valid(),
                                record.source[lane] - kGlobalBase, copied);
  }
}

// From the beginning of shared memory.
static void targetOffsets(const AsyncCopies::Record &record, uint32_t (&offsets)[kLanes]) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    offsets[lane] = record.target[lane] - kSharedBase;
}

static void completeLanes(Warp &warp, const AsyncCopies::Record &record, uint32_t lanes) {
  forLanes(lanes & ~record.moved, [&](unsigned lane) { moveLane(warp, record, lane); });
  if (!warp.cta->races || !lanes)
    return;
  warp.clock.touch(lanes);
  uint32_t offsets[kLanes];
  targetOffsets(record, offsets);
  warp.cta->races->endCopies(accessorOf(warp, *record.op, 0, AccessKind::CopyWrite), offsets, lanes,
                             record.bytes);
}

// Completes the copies of each lane in groups before `ends[lane]`.
static void completeGroups(Warp &warp, uint32_t lanes, const uint32_t (&ends)[kLanes]) {
  auto &pending = warp.copies.pending;
  for (AsyncCopies::Record &record : pending) {
    uint32_t now = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      now |= uint32_t{record.group[lane] < ends[lane]} << lane;
    now &= record.mask & lanes;
    completeLanes(warp, record, now);
    record.mask &= ~now;
  }
  // Nearly always the oldest, which leaves the others where they are.
  auto isDone = [](const AsyncCopies::Record &record) { return record.mask == 0; };
  while (!pending.empty() && isDone(pending.front()))
    pending.pop_front();
  if (std::ranges::any_of(pending, isDone))
    std::erase_if(pending, isDone);
}

void completeCopies(Warp &warp, uint32_t lanes, uint32_t keep) {
  uint32_t ends[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane)
    ends[lane] = std::max(warp.copies.commits[lane], keep) - keep;
  completeGroups(warp, lanes, ends);
}

void completeAllCopies(Warp &warp, uint32_t lanes) {
  uint32_t ends[kLanes];
  std::ranges::fill(ends, ~uint32_t{0});
  completeGroups(warp, lanes, ends);
}

namespace {

// The targets of the lanes' copies, and the number of bytes that each of them reads.
void readOperands(Warp &warp, const Op &op, AsyncCopies::Record &record, Access &target,
                  Access &source) {
  auto form = formOf<CopyForm>(op);
  uint32_t bytes = form.bytes;
  target.space = Space::Shared;
  target.kind = AccessKind::Write;
  source.space = Space::Global;
  target.bytes = source.bytes = bytes;
  target.mask = source.mask = warp.mask;
  readAddresses(warp, op.rows[0], form.wideTarget, static_cast<int32_t>(op.imm), target.address);
  readAddresses(warp, op.rows[1], form.wideSource, op.imm >> 32, source.address);
  if (warp.shadow) {
    checkAddress(warp, op, op.rows[0]);
    checkAddress(warp, op, op.rows[1]);
  }
  uint64_t copiedBytes = uint64_t{bytes} * static_cast<unsigned>(std::popcount(warp.mask));
  if (form.third != CopyForm::Third::None) {
    copiedBytes = 0;
    forLanes(warp.mask, [&](unsigned lane) {
      uint32_t copied = form.third == CopyForm::Third::SourceSize
                            ? warp.row<uint32_t>(op.rows[2])[lane]
                        : warp.predicate(op.rows[2]) >> lane & 1 ? 0
                                                                 : bytes;
      if (copied > bytes)
        warp.stop(op, FindingKind::OutOfBounds, lane,
                  "the source size " + std::to_string(copied) + " is larger than the copy, " +
                      std::to_string(bytes));
      record.sourceBytes[lane] = static_cast<uint8_t>(copied);
      copiedBytes += copied;
      if (copied == bytes)
        return;
      source.mask &= ~(1u << lane);
      if (!copied)
        return;
      requireGlobal(warp, op, lane, source.address[lane], copied);
      if (GlobalRaces *races = warp.cta->cluster->globalRaces)
        races->access(accessorOf(warp, op, lane, AccessKind::Read), source.address[lane], copied,
                      false);
    });
  }
  countAsyncBytes(warp, op, copiedBytes);
}

// Whole copies without a check that follows their bytes.
template <uint32_t Bytes>
void moveWhole(uint32_t mask, const Access &target, const Access &source) {
  forLanes(mask, [&](unsigned lane) { std::memcpy(target.host[lane], source.host[lane], Bytes); });
}

void moveWhole(uint32_t bytes, uint32_t mask, const Access &target, const Access &source) {
  if (bytes == 16)
    moveWhole<16>(mask, target, source);
  else if (bytes == 8)
    moveWhole<8>(mask, target, source);
  else
    moveWhole<4>(mask, target, source);
}

// Whole copies of lanes whose sources adjoin, as they do by rows of a tile. False: it has done nothing.
template <uint32_t Bytes>
bool moveRow(Warp &warp, const AsyncCopies::Record &record, unsigned first, unsigned lanes) {
  Cta &cta = *warp.cta;
  GlobalMemory &memory = cta.launch->memory();
  uint64_t source = record.source[first], bytes = uint64_t{lanes} * Bytes;
  if (!cta.recent.hold(source, source, bytes) ||
      (warp.shadow && !memory.valid().holdsRange(source - kGlobalBase, bytes)))
    return false;
  const uint8_t *from = memory.host(source, bytes);
  for (unsigned i = 0; i < lanes; ++i) {
    uint32_t target = record.target[first + i];
    std::memcpy(cta.sharedHost(target, Bytes), from + i * Bytes, Bytes);
    if (warp.shadow)
      cta.sharedValid.mark(target - kSharedBase, Bytes);
  }
  return true;
}

bool moveRow(Warp &warp, const AsyncCopies::Record &record, unsigned first, unsigned lanes) {
  return record.bytes == 16  ? moveRow<16>(warp, record, first, lanes)
         : record.bytes == 8 ? moveRow<8>(warp, record, first, lanes)
                             : moveRow<4>(warp, record, first, lanes);
}

void moveNow(Warp &warp, const AsyncCopies::Record &record) {
  auto isWhole = [&](unsigned lane) {
    return lane < kLanes && record.mask >> lane & 1 && record.sourceBytes[lane] == record.bytes;
  };
  for (unsigned lane = 0; lane < kLanes;) {
    unsigned lanes = 0;
    while (isWhole(lane + lanes) &&
           record.source[lane + lanes] == record.source[lane] + uint64_t{lanes} * record.bytes)
      ++lanes;
    if (lanes && moveRow(warp, record, lane, lanes)) {
      lane += lanes;
      continue;
    }
    if (record.mask >> lane & 1)
      moveLane(warp, record, lane);
    ++lane;
  }
}

void poison(Warp &warp, const AsyncCopies::Record &record, unsigned lane) {
  std::memset(warp.cta->sharedHost(record.target[lane], record.bytes), kPoison, record.bytes);
  if (warp.shadow)
    warp.cta->sharedValid.setRange(record.target[lane] - kSharedBase, record.bytes, false);
}

// To the race checker the targets are in flight from now on.
void markTargets(Warp &warp, const Op &op, const AsyncCopies::Record &record) {
  SharedRaces &races = *warp.cta->races;
  uint32_t offsets[kLanes];
  targetOffsets(record, offsets);
  if (warp.clock.lagging) // the lanes know different things
    return forLanes(record.mask, [&](unsigned lane) {
      races.access(accessorOf(warp, op, lane, AccessKind::CopyWrite), offsets[lane], record.bytes,
                   false);
    });
  Accessor accessor = accessorOf(warp, op, 0, AccessKind::CopyWrite);
  if (record.bytes == kRaceChunkBytes)
    return races.writeChunks(accessor, offsets, record.mask);
  forLanes(record.mask, [&](unsigned lane) {
    accessor.setLane(lane);
    races.access(accessor, offsets[lane], record.bytes, false);
  });
}

// Completes `record`, which holds the sizes of shorter copies already.
void describe(Warp &warp, const Op &op, const Access &target, const Access &source,
              AsyncCopies::Record &record) {
  record.mask = warp.mask;
  record.bytes = target.bytes;
  record.op = &op;
  std::ranges::copy(warp.copies.commits, record.group);
  std::ranges::copy(source.address, record.source);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    record.target[lane] = static_cast<uint32_t>(target.address[lane]);
  if (formOf<CopyForm>(op).third == CopyForm::Third::None)
    std::ranges::fill(record.sourceBytes, static_cast<uint8_t>(record.bytes));
}

void issueCopy(Warp &warp, const Op &op) {
  if (copyUnchecked(warp, op))
    return;
  AsyncCopies::Record record;
  Access target, source;
  readOperands(warp, op, record, target, source);
  resolve(warp, op, target);
  requireOwnShared(warp, op, target);
  // Shorter sources have been looked at by readOperands.
  if (source.mask) {
    resolve(warp, op, source);
    if (source.mask == kFullMask) // comes while the checks go on
      prefetchLanes(warp, target.bytes,
                    [&](unsigned lane) { return reinterpret_cast<uintptr_t>(source.host[lane]); });
    checkRaces(warp, op, source, 0);
  }
  Cluster &cluster = *warp.cta->cluster;
  Schedule schedule = cluster.launch->setup().schedule;
  bool now =
      schedule == Schedule::Eager || (schedule == Schedule::Random && cluster.choices.oneIn(2));
  bool isWatched = warp.cta->races != nullptr;
  if (now && !isWatched && !warp.shadow && source.mask == warp.mask)
    return moveWhole(target.bytes, warp.mask, target, source);
  describe(warp, op, target, source, record);
  record.moved = now ? warp.mask : 0;
  if (isWatched)
    markTargets(warp, op, record);
  if (now)
    moveNow(warp, record);
  else
    forLanes(warp.mask, [&](unsigned lane) { poison(warp, record, lane); });
  if (!now || isWatched)
    warp.copies.pending.push_back(record);
}

void commitGroup(Warp &warp, const Op &) {
  forLanes(warp.mask, [&](unsigned lane) { ++warp.copies.commits[lane]; });
}

void waitGroup(Warp &warp, const Op &op) {
  completeCopies(warp, warp.mask, static_cast<uint32_t>(op.imm));
}

void waitAll(Warp &warp, const Op &) { completeAllCopies(warp, warp.mask); }

void decodeCopy(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  std::string_view cache = suffixes.takeOneOf({"ca", "cg"});
  bool toShared = suffixes.takeOneOf({"shared", "shared::cta", "global"}).starts_with("shared");
  bool fromGlobal = suffixes.take("global");
  if (cache.empty() || !toShared || !fromGlobal)
    decoder.unsupported("expected cp.async.{ca,cg}.shared.global");
  bool hasPolicy = suffixes.take("L2::cache_hint");
  suffixes.takeOneOf({"L2::64B", "L2::128B", "L2::256B"}); // changes speed only
  const auto &operands = instruction.operands;
  bool hasThird = operands.size() > 3u + hasPolicy;
  decoder.wantOperandsAndPolicy(instruction, 3u + hasThird, hasPolicy);
  if (operands[2].kind != Operand::Kind::Immediate)
    decoder.malformed("the copy size must be a constant");
  uint64_t bytes = operands[2].value;
  if (cache == "cg" ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16)
    decoder.malformed("the copy size must be 4, 8 or 16 bytes, and 16 for .cg; found " +
                      std::to_string(bytes));
  Decoder::Address target = decoder.address(operands[0]), source = decoder.address(operands[1]);
  if (target.offset != static_cast<int32_t>(target.offset) ||
      source.offset != static_cast<int32_t>(source.offset))
    decoder.unsupported("offsets beyond 31 bits");
  std::vector<uint32_t> sources = {target.row, source.row};
  CopyForm form = {.bytes = static_cast<uint8_t>(bytes),
                   .wideSource = source.bytes == 8,
                   .wideTarget = target.bytes == 8};
  if (hasThird && decoder.isPredicate(operands[3])) {
    decoder.require(80, 75, "a predicate");
    sources.push_back(decoder.predicate(operands[3]));
    form.third = CopyForm::Third::IgnoresSource;
  } else if (hasThird) {
    sources.push_back(decoder.source(operands[3], ScalarType::U32));
    form.third = CopyForm::Third::SourceSize;
  }
  auto offsets = static_cast<int64_t>(static_cast<uint64_t>(source.offset) << 32 |
                                      static_cast<uint32_t>(target.offset));
  decoder.emitWide(issueCopy, {}, sources, offsets, form, kOwnValidity);
}

void decodeCpAsync(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  bool reduces = suffixes.take("reduce");
  if (!suffixes.take("async"))
    decoder.unsupported("expected cp.async or cp.reduce.async");
  if (suffixes.take("bulk"))
    return decodeBulkCopy(decoder, instruction, suffixes, reduces);
  if (reduces)
    decoder.unsupported("expected cp.reduce.async.bulk");
  if (suffixes.take("mbarrier"))
    return decodeCopyArrival(decoder, instruction, suffixes);
  if (suffixes.take("commit_group")) {
    decoder.wantOperands(instruction, 0);
    decoder.emit(commitGroup, {}, {});
  } else if (suffixes.take("wait_group")) {
    decoder.wantOperands(instruction, 1);
    if (instruction.operands[0].kind != Operand::Kind::Immediate)
      decoder.malformed("the number of groups must be a constant");
    decoder.emit(waitGroup, {}, {}, static_cast<int64_t>(instruction.operands[0].value));
  } else if (suffixes.take("wait_all")) {
    decoder.wantOperands(instruction, 0);
    decoder.emit(waitAll, {}, {});
  } else {
    decodeCopy(decoder, instruction, suffixes);
  }
}

TimeForm timeOfBulkCopy(const Instruction &instruction) {
  auto number = [&](size_t operand) {
    return static_cast<uint16_t>(
        instruction.operands.empty() ? 0 : instruction.operands[operand].value);
  };
  if (hasWord(instruction, "commit_group"))
    return {.kind = TimeKind::BulkCommit, .cost = Cost::Issue, .pipe = Pipe::BulkCopy};
  if (hasWord(instruction, "wait_group"))
    return {.kind = TimeKind::BulkWait,
            .cost = Cost::Issue,
            .pipe = Pipe::BulkCopy,
            .number = number(0),
            .flag = hasWord(instruction, "read")};
  if (hasWord(instruction, "prefetch"))
    return {.cost = Cost::Issue, .pipe = Pipe::BulkCopy};
  // The first space named is the target.
  auto space = std::ranges::find_if(instruction.suffix, [](std::string_view word) {
    return word == "global" || word.starts_with("shared");
  });
  bool stores = space != instruction.suffix.end() && *space == "global";
  uint16_t rank = 0;
  for (std::string_view word : instruction.suffix)
    if (word.size() == 2 && word[1] == 'd')
      rank = static_cast<uint16_t>(word[0] - '0');
  return {.kind = stores ? TimeKind::BulkStore : TimeKind::BulkLoad,
          .cost = Cost::Issue,
          .pipe = Pipe::BulkCopy,
          .number = rank,
          .flag = hasWord(instruction, "multicast::cluster")};
}

TimeForm timeOfCopy(const Instruction &instruction) {
  if (hasWord(instruction, "bulk"))
    return timeOfBulkCopy(instruction);
  TimeForm form = {.cost = Cost::Issue, .pipe = Pipe::Memory};
  if (hasWord(instruction, "mbarrier"))
    form.kind = TimeKind::AsyncArrive;
  else if (hasWord(instruction, "commit_group"))
    form.kind = TimeKind::AsyncCommit;
  else if (hasWord(instruction, "wait_group") || hasWord(instruction, "wait_all"))
    form.kind = TimeKind::AsyncWait;
  else
    form.kind = TimeKind::AsyncCopy;
  if (form.kind == TimeKind::AsyncWait && !instruction.operands.empty())
    form.number = static_cast<uint16_t>(instruction.operands[0].value);
  if (form.kind == TimeKind::AsyncCopy && instruction.operands.size() > 2)
    form.bytes = static_cast<uint8_t>(instruction.operands[2].value);
  return form;
}

const OpcodeInfo kOpcodes[] = {
    {.name = "cp",
     .decode = decodeCpAsync,
     .time = timeOfCopy,
     .kind = always<InstructionClass::AsyncCopy>,
     .forms = {{.where = "tile", .needs = "tensor"},
               {.where = "f16 bf16", .needs = "noftz min max", .of = "cp.reduce"},
               {.where = "noftz", .needs = "f16 bf16"},
               {.never = "wait_group commit_group wait_all prefetch mbarrier", .of = "cp.reduce"},
               {.where = "tensor", .needs = "global"},
               {.where = "multicast::cluster", .needs = "shared::cluster"},
               {.where = "shared::cluster",
                .never = "s64 b64 f16 bf16 f32 f64",
                .of = "cp.reduce"}},
     .orders = {{"reduce > async > mbarrier bulk commit_group wait_group wait_all > arrive "
                 "prefetch tensor commit_group wait_group > tensor > noinc | read | 1d 2d 3d 4d 5d "
                 "| ca cg | L2 | global " TILE_SHARED " | global " TILE_SHARED
                 " | and or xor add inc dec min max | tile | mbarrier::* bulk_group | "
                 "multicast::cluster" TILE_HINT_LIST
                 "L2::64B L2::128B L2::256B | noftz | " TILE_TYPES}},
     .requirements = {{"async", 80, 70},
                      {"async.L2::64B", 80, 74},
                      {"async.L2::128B", 80, 74},
                      {"async.L2::256B", 80, 74},
                      {"async.L2::cache_hint", 80, 74},
                      {"async.mbarrier.shared::cta", 80, 78},
                      {"async.bulk", 90, 80},
                      {"async.bulk.shared::cta.global", 90, 86},
                      {"reduce.async.bulk", 90, 80}}},
};

} // namespace

OpcodeRows asyncCopyOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
