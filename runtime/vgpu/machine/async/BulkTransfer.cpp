// The checks of a bulk copy, and its movement of data.
#include "runtime/vgpu/machine/async/BulkTransfer.h"

#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"
#include "runtime/vgpu/machine/access/CountAccess.h"

#include <algorithm>
#include <cstring>

namespace tile::vgpu {

// Fills a destination while its copy is in flight. It is a NaN in every float format, so a read
// that comes too early shows.
static constexpr uint8_t kPoison = 0xff;

// A plain range is a single run.
template <class Visit> void BulkTransfer::forRuns(Visit visit) const {
  if (map)
    vgpu::forRuns(*map, coordinates, visit);
  else
    visit(TensorRun{0, static_cast<uint32_t>(bytes), true, global});
}

template <class Visit>
void BulkTransfer::forPieces(uint32_t tile, const TensorRun &run, Visit visit) const {
  if (map)
    vgpu::forPieces(*map, tile, run, visit);
  else
    visit(tile + run.tileOffset, 0u, run.bytes);
}

Accessor BulkTransfer::accessor(unsigned actor, uint32_t time, AccessKind kind) const {
  Accessor result = accessorOf(*issuer, *op, lane, kind);
  result.record.actor = actor;
  result.record.clock = time;
  result.proxy = true;
  result.fencesReads = issuer->cta->launch->checks().proxy;
  return result;
}

// Every byte that will be touched, where swizzles put it.
void BulkTransfer::requireInside(const SharedAddress &tile) const {
  const Launch &launch = *issuer->cta->launch;
  uint32_t align = map ? 128 : 16;
  if (tile.address % align)
    issuer->stop(*op, FindingKind::Misaligned, lane,
                 "the shared address of a bulk copy must be a multiple of " +
                     std::to_string(align) + ", not " + std::to_string(tile.address));
  uint64_t offset = uint64_t{tile.address} - kSharedBase, reach = reachOf(tile);
  if (!tile.cta || offset > launch.sharedBytes() || reach > launch.sharedBytes() - offset)
    issuer->stop(*op, FindingKind::OutOfBounds, lane,
                 "a copy of " + std::to_string(bytes) + " bytes at offset " +
                     std::to_string(static_cast<int64_t>(offset)) +
                     (isSolid() ? "" : ", in rows of " + std::to_string(rowPitch(*map)) + ",") +
                     " leaves the block's " + std::to_string(launch.sharedBytes()) +
                     " bytes of shared memory");
}

void BulkTransfer::checkTile(const SharedAddress &tile, AccessKind kind, unsigned actor,
                             uint32_t time) const {
  requireInside(tile);
  if (tile.cta->hasExited)
    issuer->stop(*op, FindingKind::UseAfterFree, lane,
                 "the shared memory of block " + issuer->cta->launch->blockText(tile.cta->index) +
                     " is gone: the block has exited");
  if (!tile.cta->races)
    return;
  Accessor who = accessor(actor, time, kind);
  if (isSolid())
    return tile.cta->races->access(who, tile.address - kSharedBase, static_cast<uint32_t>(bytes),
                                   false);
  forRuns([&](const TensorRun &run) {
    forPieces(tile.address, run, [&](uint32_t address, uint32_t, uint32_t count) {
      tile.cta->races->access(who, address - kSharedBase, count, false);
    });
  });
}

void BulkTransfer::checkGlobal(AccessKind kind, unsigned actor, uint32_t time) const {
  GlobalRaces *races = issuer->cta->cluster->globalRaces;
  Accessor who = accessor(actor, time, kind);
  if (!map && global % 16)
    issuer->stop(*op, FindingKind::Misaligned, lane,
                 "the global address of a bulk copy must be a multiple of 16");
  auto span = map ? spanOfBox(*map, coordinates) : std::nullopt;
  bool isHeld =
      span && issuer->cta->recent.hold(span->first, span->first, span->second - span->first);
  if (isHeld && !races && !issuer->cta->launch->setup().counting)
    return;
  forRuns([&](const TensorRun &run) {
    if (!run.inside)
      return;
    if (!isHeld)
      requireGlobal(*issuer, *op, lane, run.address, run.bytes);
    countRange(*issuer->cta->launch, kind, run.address, run.bytes);
    if (races)
      races->access(who, run.address, run.bytes, false);
  });
}

void BulkTransfer::poison(const SharedAddress &tile) const {
  if (reduction)
    return;
  forRuns([&](const TensorRun &run) {
    forPieces(tile.address, run, [&](uint32_t address, uint32_t, uint32_t count) {
      std::memset(tile.cta->sharedHost(address, count), kPoison, count);
      if (issuer->shadow && !isSolid())
        tile.cta->sharedValid.setRange(address - kSharedBase, count, false);
    });
  });
  if (issuer->shadow && isSolid())
    tile.cta->sharedValid.setRange(tile.address - kSharedBase, bytes, false);
}

void BulkTransfer::check() {
  bool isLate = issuer->cta->launch->setup().schedule != Schedule::Eager;
  AccessKind writes = reduction ? AccessKind::ProxyReduction : AccessKind::ProxyWrite;
  for (const BulkTile &target : targets) {
    const Mbarrier &barrier =
        requireMbarrier(*issuer, *op, lane, *target.barrier.cta, target.barrier.address);
    checkTile(target.where, writes, barrier.actor, barrier.time());
    if (isLate)
      poison(target.where);
  }
  if (targets.empty()) {
    checkTile(*from, AccessKind::ProxyRead, issuer->bulk.readActor, groupTime);
    checkGlobal(writes, issuer->bulk.writeActor, groupTime);
    return;
  }
  const Mbarrier &barrier =
      requireMbarrier(*issuer, *op, lane, *targets[0].barrier.cta, targets[0].barrier.address);
  if (from)
    checkTile(*from, AccessKind::ProxyRead, barrier.actor, barrier.time());
  else
    checkGlobal(AccessKind::ProxyRead, barrier.actor, barrier.time());
}

void BulkTransfer::move(uint8_t *target, ValidBits &targetValid, uint64_t targetBit,
                        const uint8_t *source, const ValidBits &sourceValid, uint64_t sourceBit,
                        uint32_t count) const {
  if (reduction)
    reduction(target, source, count);
  else
    std::memmove(target, source, count); // a block may copy within its own memory
  if (issuer->shadow && !reduction)
    targetValid.copyRange(targetBit, sourceValid, sourceBit, count);
}

void BulkTransfer::fillTile(const BulkTile &target, const TensorRun &run, uint32_t address,
                            uint32_t done, uint32_t count) const {
  Launch &launch = *issuer->cta->launch;
  Cta &cta = *target.where.cta;
  uint8_t *host = cta.sharedHost(address, count);
  if (from) {
    uint32_t source = from->address + run.tileOffset + done;
    move(host, cta.sharedValid, address - kSharedBase, from->cta->sharedHost(source, count),
         from->cta->sharedValid, source - kSharedBase, count);
    return;
  }
  if (run.inside) {
    uint64_t source = run.address + done;
    move(host, cta.sharedValid, address - kSharedBase, launch.memory().host(source, count),
         launch.memory().valid(), source - kGlobalBase, count);
    if (map && convertsLoads(*map))
      roundToTf32(host, count);
    return;
  }
  uint64_t element = fillElement(*map);
  auto size = static_cast<uint32_t>(device::sizeOf(map->type));
  for (uint32_t at = 0; at < count; at += size)
    std::memcpy(host + at, &element, size);
  if (issuer->shadow)
    cta.sharedValid.setRange(address - kSharedBase, count, true);
}

void BulkTransfer::copyOut(const TensorRun &run, uint32_t address, uint32_t done,
                           uint32_t count) const {
  if (!run.inside)
    return;
  Launch &launch = *issuer->cta->launch;
  Cta &cta = *from->cta;
  uint64_t target = run.address + done;
  if (issuer->shadow) {
    if (!cta.sharedValid.holdsRange(address - kSharedBase, count))
      issuer->report(*op, FindingKind::Uninitialised, lane,
                     "copies data to global memory that were never written, from " +
                         describeAddress(*issuer, Space::Shared, address) + ": store to it first");
    launch.memory().valid().setRange(target - kGlobalBase, count, true);
  }
  if (reduction)
    reduction(launch.memory().host(target, count), cta.sharedHost(address, count), count);
  else
    std::memcpy(launch.memory().host(target, count), cta.sharedHost(address, count), count);
}

// True if a run is moved chunk by chunk, as in swizzled tiles; others are moved as they are.
static bool isInWholeChunks(const BulkTransfer &copy, const TensorRun &run) {
  return copy.map && copy.map->swizzle != device::TensorMapSwizzle::None && !copy.reduction &&
         !convertsLoads(*copy.map) && run.inside && (run.tileOffset | run.bytes) % kChunkBytes == 0;
}

// Moves a run of a swizzled tile by whole chunks, if all of it is initialised or nobody asks.
// False: it has done nothing.
static bool moveChunks(const BulkTransfer &copy, const BulkTile &target, const TensorRun &run) {
  GlobalMemory &memory = copy.issuer->cta->launch->memory();
  bool follows = static_cast<bool>(copy.issuer->shadow);
  if (!isInWholeChunks(copy, run) ||
      (follows && !memory.valid().holdsRange(run.address - kGlobalBase, run.bytes)))
    return false;
  const uint8_t *source = memory.host(run.address, run.bytes);
  HostBytes shared = target.where.cta->sharedBytes();
  uint32_t begin = target.where.address + run.tileOffset;
  forChunks(begin, run.bytes, static_cast<unsigned>(copy.map->swizzle),
            [=](uint32_t address, uint32_t done) {
              std::memcpy(shared.at<kChunkBytes>(address), source + done, kChunkBytes);
            });
  ValidBits &valid = target.where.cta->sharedValid;
  if (follows)
    forChunks(begin, run.bytes, static_cast<unsigned>(copy.map->swizzle),
              [&](uint32_t address, uint32_t) { valid.mark(address - kSharedBase, kChunkBytes); });
  return true;
}

// Moves a run out of shared memory.
static bool moveChunksOut(const BulkTransfer &copy, const TensorRun &run) {
  Cta &cta = *copy.from->cta;
  GlobalMemory &memory = cta.launch->memory();
  if (!isInWholeChunks(copy, run) || copy.issuer->shadow)
    return false;
  uint8_t *target = memory.host(run.address, run.bytes);
  HostBytes shared = cta.sharedBytes();
  forChunks(copy.from->address + run.tileOffset, run.bytes,
            static_cast<unsigned>(copy.map->swizzle), [=](uint32_t address, uint32_t done) {
              std::memcpy(target + done, shared.at<kChunkBytes>(address), kChunkBytes);
            });
  return true;
}

bool BulkTransfer::writes(const Cta &cta) const {
  return std::ranges::any_of(targets, [&](const BulkTile &tile) { return tile.where.cta == &cta; });
}

void BulkTransfer::moveIn(const BulkTile &target, const TensorRun &run) const {
  if (moveChunks(*this, target, run))
    return;
  forPieces(target.where.address, run, [&](uint32_t address, uint32_t done, uint32_t count) {
    fillTile(target, run, address, done, count);
  });
}

// The rows of a tile are far apart: while one is copied, one further on is asked for. Beyond the
// tile that is a guess, which never faults.
void BulkTransfer::prefetchAfter(const TensorRun &run) const {
  constexpr uint32_t kLineBytes = 64, kRowsAhead = 16;
  const GlobalMemory &memory = issuer->cta->launch->memory();
  // In integers, since it may lie anywhere.
  uint64_t offset = run.address + kRowsAhead * map->strides[0] - kGlobalBase,
           begin = memory.origin() + kGlobalBase + offset;
  for (uint32_t at = 0; at < run.bytes; at += kLineBytes)
    __builtin_prefetch(reinterpret_cast<const void *>(begin + at));
  if (issuer->shadow)
    memory.valid().prefetch(offset);
}

void BulkTransfer::fillTiles() {
  bool hasRows = map && !from && map->rank > 1;
  for (const BulkTile &target : targets) {
    forRuns([&](const TensorRun &run) {
      if (hasRows && run.inside)
        prefetchAfter(run);
      moveIn(target, run);
    });
    completeBytes(*issuer, *op, lane, *target.barrier.cta, target.barrier.address,
                  static_cast<uint32_t>(bytes));
  }
}

void BulkTransfer::complete() {
  if (!pieces_.empty())
    return finishPieces(pieces_.size());
  fillTiles();
  if (targets.empty())
    forRuns([&](const TensorRun &run) {
      if (moveChunksOut(*this, run))
        return;
      forPieces(from->address, run, [&](uint32_t address, uint32_t done, uint32_t count) {
        copyOut(run, address, done, count);
      });
    });
}

bool BulkTransfer::completePart(Choices &choices) {
  if (targets.empty()) {
    complete();
    return true;
  }
  if (pieces_.empty())
    cut(choices);
  finishPieces(1 + choices.below(static_cast<uint32_t>(pieces_.size())));
  return pieces_.empty();
}

// Into 16 to 128 bytes, less at the ends of runs, in random order.
void BulkTransfer::cut(Choices &choices) {
  constexpr uint32_t kUnit = 16, kMostUnits = 8;
  for (const BulkTile &target : targets)
    forRuns([&](const TensorRun &run) {
      for (uint32_t done = 0; done < run.bytes;) {
        uint32_t count = std::min(kUnit * (1 + choices.below(kMostUnits)), run.bytes - done);
        pieces_.push_back(
            {&target, {run.tileOffset + done, count, run.inside, run.address + done}});
        done += count;
      }
    });
  for (size_t i = pieces_.size(); i > 1; --i)
    std::swap(pieces_[i - 1], pieces_[choices.below(static_cast<uint32_t>(i))]);
}

void BulkTransfer::finishPieces(size_t count) {
  for (; count > 0; --count) {
    Piece piece = pieces_.back();
    pieces_.pop_back();
    moveIn(*piece.target, piece.run);
    completeBytes(*issuer, *op, lane, *piece.target->barrier.cta, piece.target->barrier.address,
                  piece.run.bytes);
  }
}

} // namespace tile::vgpu
