// The comparison of accesses, and the memory of reads.
#include "runtime/vgpu/check/RaceCell.h"

#include "runtime/vgpu/check/RaceReport.h"
#include "runtime/vgpu/machine/Launch.h"

namespace tile::vgpu {

bool isWrite(AccessKind kind) {
  return kind != AccessKind::Read && kind != AccessKind::StrongRead &&
         kind != AccessKind::NarrowRead && kind != AccessKind::ProxyRead;
}

bool isStrong(AccessKind kind) {
  return (kind >= AccessKind::Atomic && kind <= AccessKind::NarrowWrite) ||
         kind == AccessKind::ProxyReduction;
}

static bool isNarrow(AccessKind kind) {
  return kind >= AccessKind::NarrowAtomic && kind <= AccessKind::NarrowWrite;
}
bool isStrongOnDevice(AccessKind kind) { return isStrong(kind) && !isNarrow(kind); }

static bool isProxied(AccessKind kind) {
  return kind == AccessKind::ProxyRead || kind == AccessKind::ProxyWrite ||
         kind == AccessKind::ProxyReduction;
}

Accessor accessorOf(Warp &warp, const Op &op, unsigned lane, AccessKind kind) {
  Accessor accessor;
  accessor.warp = &warp;
  accessor.clock = &warp.clock.of(lane);
  accessor.op = &op;
  accessor.lane = lane;
  accessor.stamp.clock = warp.clock.time();
  accessor.stamp.instruction = std::min(op.instruction, Stamp::kLastInstruction);
  accessor.stamp.actor = warp.clock.actor;
  accessor.stamp.lane = lane;
  accessor.stamp.kindBits = static_cast<uint64_t>(kind);
  return accessor;
}

namespace {

// True if `cluster` is one of a launch before, and known to have ended.
bool hasEnded(uint32_t cluster, const Accessor &accessor) {
  const Launch &launch = *accessor.warp->cta->launch;
  return cluster < launch.firstCluster() &&
         (cluster < launch.endedBelow() || accessor.clock->knowsOfGrids());
}

const Clocks *clocksOf(const WarpClock &clock, uint32_t cluster) {
  if (cluster == clock.cluster)
    return &clock.has.now;
  auto found = clock.has.others.find(cluster);
  return found == clock.has.others.end() ? nullptr : found->second.get();
}

bool isOwn(Stamp earlier, uint32_t cluster, const Accessor &accessor) {
  const WarpClock &clock = *accessor.clock;
  return cluster == clock.cluster && earlier.actor == clock.actor;
}

// True if `earlier` happened before what the accessor does now.
bool isOrdered(Stamp earlier, uint32_t cluster, const Accessor &accessor) {
  const WarpClock &clock = *accessor.clock;
  if (isOwn(earlier, cluster, accessor))
    return (accessor.ordersOwnAccess && earlier.lane == accessor.lane) ||
           clock.lanesHeard.covers(earlier.actor, earlier.lane, earlier.clock);
  const Clocks *clocks = clocksOf(clock, cluster);
  if (clocks && clocks->known.covers(earlier.actor, earlier.lane, earlier.clock))
    return true;
  return cluster != clock.cluster && hasEnded(cluster, accessor);
}

// By what completes asynchronous operations of this launch, not by a warp.
bool isAsynchronous(Stamp earlier, uint32_t cluster, const Accessor &accessor) {
  const Cta &cta = *accessor.warp->cta;
  return cluster >= cta.launch->firstCluster() &&
         earlier.actor / cta.warps.size() >= cta.launch->clusterSize();
}

// Strong accesses do not race if the scope of each covers the other's block.
bool areStrongTogether(Stamp earlier, uint32_t cluster, const Accessor &accessor) {
  if (!isStrong(earlier.kind()) || !isStrong(accessor.kind()))
    return false;
  if (!isNarrow(earlier.kind()) && !isNarrow(accessor.kind()))
    return true;
  const Warp &warp = *accessor.warp;
  return cluster == warp.clock.cluster && earlier.actor / warp.cta->warps.size() == warp.cta->rank;
}

// True if `earlier` went through the generic proxy, the accessor's goes through the asynchronous one, and no fence is between.
bool isUnfenced(Stamp earlier, uint32_t cluster, const Accessor &accessor) {
  if (!accessor.proxy || isProxied(earlier.kind()) ||
      !(isWrite(earlier.kind()) || accessor.fencesReads))
    return false;
  const Clocks *clocks = clocksOf(*accessor.clock, cluster);
  return !(clocks && clocks->proxied.covers(earlier.actor, earlier.lane, earlier.clock)) &&
         !hasEnded(cluster, accessor);
}

// The same, and reported.
bool lacksFence(Stamp earlier, uint32_t cluster, const Accessor &accessor, const RacePlace &place) {
  if (!isUnfenced(earlier, cluster, accessor))
    return false;
  reportConflict(earlier, cluster, accessor, place, FindingKind::Proxy);
  return true;
}

// True if whoever is ordered after the accessor's read, and through a fence if the proxies differ, is after `read` as well.
bool isImplied(Stamp read, uint32_t cluster, const Accessor &accessor) {
  return isOrdered(read, cluster, accessor) && !isUnfenced(read, cluster, accessor);
}

// True, and reported, if nothing orders `earlier` before the accessor's access.
bool conflicts(Stamp earlier, uint32_t cluster, const Accessor &accessor, const RacePlace &place) {
  if (!earlier || (!isWrite(earlier.kind()) && !isWrite(accessor.kind())))
    return false;
  if (earlier.kind() == AccessKind::CopyWrite) {
    reportConflict(earlier, cluster, accessor, place, FindingKind::AsyncRace);
    return true;
  }
  if (areStrongTogether(earlier, cluster, accessor))
    return false;
  if (!isOrdered(earlier, cluster, accessor)) {
    reportConflict(earlier, cluster, accessor, place,
                   isAsynchronous(earlier, cluster, accessor) ? FindingKind::AsyncRace
                   : isOwn(earlier, cluster, accessor)        ? FindingKind::WarpRace
                                                              : FindingKind::Race);
    return true;
  }
  return lacksFence(earlier, cluster, accessor, place);
}

} // namespace

bool happenedBefore(Stamp earlier, const Accessor &accessor) {
  return isOrdered(earlier, accessor.warp->clock.cluster, accessor);
}

bool knowsAll(ManyReads many, const WarpClock &clock) {
  const VectorClock &known = clock.has.now.known;
  for (uint64_t left = many.mask; left; left &= left - 1)
    if (known.at(many.group * 16 + static_cast<unsigned>(std::countr_zero(left))) < many.clock)
      return false;
  return true;
}

bool mergeReads(Stamp &slot, Stamp stamp) {
  bool fits = slot.clock == stamp.clock && slot.clock < (1u << 23) &&
              slot.kindBits == stamp.kindBits && slot.actor / 16 == stamp.actor / 16 &&
              stamp.actor < 64 &&
              (slot.kind() == AccessKind::Read || slot.kind() == AccessKind::ProxyRead);
  if (!fits)
    return false;
  ManyReads many;
  many.clock = stamp.clock;
  many.proxy = stamp.kind() == AccessKind::ProxyRead;
  many.instruction = stamp.instruction;
  many.mask = (1u << stamp.actor % 16) | (1u << slot.actor % 16);
  many.group = stamp.actor / 16;
  slot = std::bit_cast<Stamp>(many);
  return true;
}

template <class Cell> void RaceCells<Cell>::clear() {
  split_.reset();
  pools_.clear();
  freePools_.clear();
}

template <class Cell> size_t RaceCells<Cell>::heldBytes() const {
  size_t bytes = split_.heldBytes() + pools_.capacity() * sizeof(pools_[0]) +
                 freePools_.capacity() * sizeof(uint32_t);
  for (const std::vector<Stamp> &pool : pools_)
    bytes += pool.capacity() * sizeof(Stamp);
  return bytes;
}

template <class Cell> void RaceCells<Cell>::split(Cell &cell, std::span<Cell> parts) {
  for (Cell &part : parts) {
    part = cell;
    // Each part needs its own list of readers.
    if (cell.read.kindBits == kPooled) {
      part.read.clock = pools_.size();
      pools_.push_back(std::vector(pools_[cell.read.clock]));
    }
  }
  clearReads(cell);
  cell = Cell();
  cell.write.kindBits = kSplit;
}

template <class Cell> void RaceCells<Cell>::forget(std::span<Cell> parts) {
  for (Cell &part : parts) {
    if (isSplit(part)) {
      auto index = static_cast<uint32_t>(part.write.clock);
      for (Cell &byte : split_[index])
        clearReads(byte);
      split_.giveBack(index);
    }
    clearReads(part);
    part = Cell();
  }
}

template <class Cell> uint32_t RaceCells<Cell>::splitIndex(Cell &cell) {
  if (isSplit(cell))
    return static_cast<uint32_t>(cell.write.clock);
  uint32_t index = split_.take();
  split(cell, split_[index]);
  cell.write.clock = index;
  return index;
}

template <class Cell> void RaceCells<Cell>::assemble(Cell &word, std::span<Cell, 4> bytes) {
  auto isFirst = [&](const Cell &byte) {
    return byte.write == bytes[0].write && byte.read == bytes[0].read;
  };
  word = bytes[0];
  if (std::ranges::all_of(bytes, isFirst)) // each has a list of readers of its own, if any
    return;
  uint32_t index = split_.take();
  std::ranges::copy(bytes, split_[index].begin());
  word = Cell();
  word.write.kindBits = kSplit;
  word.write.clock = index;
}

template <class Cell> std::vector<Stamp> RaceCells<Cell>::expand(Stamp slot) {
  auto many = std::bit_cast<ManyReads>(slot);
  std::vector<Stamp> reads;
  for (unsigned bit = 0; bit < 16; ++bit)
    if (many.mask >> bit & 1) {
      Stamp read;
      read.clock = many.clock;
      read.instruction = many.instruction;
      read.actor = many.group * 16 + bit;
      read.lane = Stamp::kSeveralLanes;
      read.kindBits = static_cast<uint64_t>(many.proxy ? AccessKind::ProxyRead : AccessKind::Read);
      reads.push_back(read);
    }
  return reads;
}

template <class Cell>
bool RaceCells<Cell>::conflictsWithMany(Stamp reads, uint32_t cluster, const Accessor &accessor,
                                        const RacePlace &place) {
  const WarpClock &clock = *accessor.clock;
  auto check = [&](Stamp read) {
    // Which lanes of its own warp read is not known.
    return isOwn(read, cluster, accessor) ? lacksFence(read, cluster, accessor, place)
                                          : conflicts(read, cluster, accessor, place);
  };
  if (reads.kindBits == kPooled)
    return std::ranges::any_of(pools_[reads.clock], check);
  // The usual case first: all of them were before the last barrier.
  bool known = cluster == clock.cluster && !accessor.fencesReads &&
               knowsAll(std::bit_cast<ManyReads>(reads), clock);
  return !known && std::ranges::any_of(expand(reads), check);
}

template <class Cell>
bool RaceCells<Cell>::conflictsWithReads(const Cell &cell, const Accessor &accessor,
                                         const RacePlace &place) {
  auto check = [&](Stamp reads, uint32_t cluster) {
    if (reads.kindBits == kMany || reads.kindBits == kPooled)
      return conflictsWithMany(reads, cluster, accessor, place);
    return conflicts(reads, cluster, accessor, place);
  };
  if constexpr (Cell::kManyClusters)
    return check(cell.read, cell.readCluster) || check(cell.otherRead, cell.otherCluster);
  else
    return check(cell.read, accessor.warp->clock.cluster);
}

template <class Cell>
void RaceCells<Cell>::touch(Cell &cell, const Accessor &accessor, bool sameValue,
                            const RacePlace &place) {
  uint32_t own = accessor.warp->clock.cluster, writer = own;
  if constexpr (Cell::kManyClusters)
    writer = cell.writeCluster;
  bool writes = isWrite(accessor.kind());
  bool harmless = sameValue && writes && cell.write.kind() == AccessKind::Write;
  bool found = !harmless && conflicts(cell.write, writer, accessor, place);
  if (!writes) {
    noteRead(cell, accessor.stamp, own, &accessor);
    return;
  }
  if (!found && !sameValue)
    conflictsWithReads(cell, accessor, place);
  // A duplicate of what another warp wrote leaves that write in place: readers must still be ordered after one of them.
  if (!sameValue || !cell.write || isOwn(cell.write, writer, accessor) ||
      isOrdered(cell.write, writer, accessor)) {
    cell.write = accessor.stamp;
    if constexpr (Cell::kManyClusters)
      cell.writeCluster = own;
    clearReads(cell);
  }
}

template <class Cell> void RaceCells<Cell>::release(Stamp &slot) {
  if (slot.kindBits == kPooled)
    freePools_.push_back(static_cast<uint32_t>(slot.clock));
  slot = Stamp();
}

template <class Cell> void RaceCells<Cell>::clearReads(Cell &cell) {
  release(cell.read);
  if constexpr (Cell::kManyClusters)
    release(cell.otherRead);
}

template <class Cell>
void RaceCells<Cell>::noteRead(Cell &cell, Stamp stamp, uint32_t cluster,
                               const Accessor *accessor) {
  if constexpr (Cell::kManyClusters) {
    if (cell.read && cell.readCluster != cluster) {
      std::swap(cell.read, cell.otherRead);
      std::swap(cell.readCluster, cell.otherCluster);
      if (cell.read && cell.readCluster != cluster)
        release(cell.read);
    }
    cell.readCluster = cluster;
  }
  Stamp &slot = cell.read;
  if (slot.kindBits == kMany || slot.kindBits == kPooled) {
    if (slot.kindBits == kPooled || !joinMany(slot, stamp, accessor))
      pool(slot, stamp, accessor);
    return;
  }
  bool sameActor = slot && slot.actor == stamp.actor;
  bool severalLanes = sameActor && slot.clock == stamp.clock && slot.lane != stamp.lane;
  // Of one warp only the last read counts: whoever is ordered after it is ordered after the warp's earlier ones.
  if (!slot || sameActor || (accessor && isImplied(slot, cluster, *accessor))) {
    slot = stamp;
    if (severalLanes)
      slot.lane = Stamp::kSeveralLanes;
    return;
  }
  if (!mergeReads(slot, stamp))
    pool(slot, stamp, accessor);
}

template <class Cell>
bool RaceCells<Cell>::joinMany(Stamp &slot, Stamp stamp, const Accessor *accessor) {
  auto many = std::bit_cast<ManyReads>(slot);
  bool sameKind = stamp.kind() == (many.proxy ? AccessKind::ProxyRead : AccessKind::Read);
  if (sameKind && many.clock == stamp.clock && stamp.actor / 16 == many.group) {
    many.mask |= 1u << stamp.actor % 16;
    many.instruction = stamp.instruction;
    slot = std::bit_cast<Stamp>(many);
    return true;
  }
  bool mayBeUnfenced = accessor && accessor->fencesReads && !many.proxy;
  if (!accessor || mayBeUnfenced || !knowsAll(many, *accessor->clock))
    return false;
  slot = stamp;
  return true;
}

template <class Cell>
void RaceCells<Cell>::pool(Stamp &slot, Stamp stamp, const Accessor *accessor) {
  if (slot.kindBits != kPooled) {
    std::vector<Stamp> reads = slot.kindBits == kMany ? expand(slot) : std::vector<Stamp>{slot};
    if (freePools_.empty()) {
      freePools_.push_back(static_cast<uint32_t>(pools_.size()));
      pools_.emplace_back();
    }
    slot = Stamp();
    slot.clock = freePools_.back();
    slot.kindBits = kPooled;
    freePools_.pop_back();
    pools_[slot.clock] = std::move(reads);
  }
  std::vector<Stamp> &reads = pools_[slot.clock];
  std::erase_if(reads, [&](Stamp read) {
    return read.actor == stamp.actor ||
           (accessor && isImplied(read, accessor->warp->clock.cluster, *accessor));
  });
  reads.push_back(stamp);
}

template class RaceCells<ClusterCell>;
template class RaceCells<GlobalCell>;

} // namespace tile::vgpu
