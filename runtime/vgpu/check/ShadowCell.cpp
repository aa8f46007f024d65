// Checks accesses against cells, and updates these.
#include "runtime/vgpu/check/ShadowCell.h"

#include "runtime/vgpu/check/Ordering.h"

#include <algorithm>

namespace tile::vgpu {

template <class Cell> void RaceRules<Cell>::clear() {
  split_.reset();
  pools_.clear();
  freePools_.clear();
}

template <class Cell> size_t RaceRules<Cell>::heldBytes() const {
  size_t bytes = split_.heldBytes() + pools_.capacity() * sizeof(pools_[0]) +
                 freePools_.capacity() * sizeof(uint32_t);
  for (const std::vector<AccessRecord> &pool : pools_)
    bytes += pool.capacity() * sizeof(AccessRecord);
  return bytes;
}

template <class Cell> void RaceRules<Cell>::split(Cell &cell, std::span<Cell> parts) {
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

template <class Cell> void RaceRules<Cell>::forget(std::span<Cell> parts) {
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

template <class Cell> uint32_t RaceRules<Cell>::splitIndex(Cell &cell) {
  if (isSplit(cell))
    return static_cast<uint32_t>(cell.write.clock);
  // A split cell keeps the number of its bytes in place of the time of its write.
  uint32_t index = split_.take();
  split(cell, split_[index]);
  cell.write.clock = index;
  return index;
}

template <class Cell> void RaceRules<Cell>::assemble(Cell &word, std::span<Cell, 4> bytes) {
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

template <class Cell> std::vector<AccessRecord> RaceRules<Cell>::expand(AccessRecord slot) {
  auto many = std::bit_cast<ManyReads>(slot);
  std::vector<AccessRecord> reads;
  for (unsigned bit = 0; bit < 16; ++bit)
    if (many.mask >> bit & 1) {
      AccessRecord read;
      read.clock = many.clock;
      read.instruction = many.instruction;
      read.actor = many.group * 16 + bit;
      read.lane = AccessRecord::kSeveralLanes;
      read.kindBits = static_cast<uint64_t>(many.proxy ? AccessKind::ProxyRead : AccessKind::Read);
      reads.push_back(read);
    }
  return reads;
}

template <class Cell>
bool RaceRules<Cell>::conflictsWithMany(AccessRecord reads, uint32_t cluster,
                                        const Accessor &accessor, const RaceAddress &where) {
  const WarpClock &clock = *accessor.clock;
  auto check = [&](AccessRecord read) {
    // Lists do not keep all lanes of a warp, so a read by the own one counts as ordered, but for
    // the proxy.
    return isOwn(read, cluster, accessor) ? lacksFence(read, cluster, accessor, where)
                                          : conflicts(read, cluster, accessor, where);
  };
  if (reads.kindBits == kPooled)
    return std::ranges::any_of(pools_[reads.clock], check);
  // Nearly always all of the reads were before the last barrier, which one look at each actor's
  // time tells.
  bool known = cluster == clock.cluster && !accessor.fencesReads &&
               coversAll(std::bit_cast<ManyReads>(reads), clock);
  return !known && std::ranges::any_of(expand(reads), check);
}

template <class Cell>
bool RaceRules<Cell>::conflictsWithReads(const Cell &cell, const Accessor &accessor,
                                         const RaceAddress &where) {
  auto check = [&](AccessRecord reads, uint32_t cluster) {
    if (reads.kindBits == kMany || reads.kindBits == kPooled)
      return conflictsWithMany(reads, cluster, accessor, where);
    return conflicts(reads, cluster, accessor, where);
  };
  if constexpr (Cell::kManyClusters)
    return check(cell.read, cell.readCluster) || check(cell.otherRead, cell.otherCluster);
  else
    return check(cell.read, accessor.cluster());
}

template <class Cell>
void RaceRules<Cell>::touch(Cell &cell, const Accessor &accessor, bool sameValue,
                            const RaceAddress &where) {
  uint32_t own = accessor.cluster(), writer = own;
  if constexpr (Cell::kManyClusters)
    writer = cell.writeCluster;
  bool writes = isWrite(accessor.kind());
  // Warps that store the same value, as replicated layouts do, do not race.
  bool harmless = sameValue && writes && cell.write.kind() == AccessKind::Write;
  bool found = !harmless && conflicts(cell.write, writer, accessor, where);
  if (!writes) {
    noteRead(cell, accessor.record, own, &accessor);
    return;
  }
  // One report for an access is enough: a second one would name the same line.
  if (!found && !sameValue)
    conflictsWithReads(cell, accessor, where);
  // A duplicate of what another warp wrote leaves that write in place: readers must still be
  // ordered after one of them.
  if (!sameValue || !cell.write || isOwn(cell.write, writer, accessor) ||
      isOrdered(cell.write, writer, accessor)) {
    cell.write = accessor.record;
    if constexpr (Cell::kManyClusters)
      cell.writeCluster = own;
    clearReads(cell);
  }
}

template <class Cell> void RaceRules<Cell>::release(AccessRecord &slot) {
  if (slot.kindBits == kPooled)
    freePools_.push_back(static_cast<uint32_t>(slot.clock));
  slot = AccessRecord();
}

template <class Cell> void RaceRules<Cell>::clearReads(Cell &cell) {
  release(cell.read);
  if constexpr (Cell::kManyClusters)
    release(cell.otherRead);
}

template <class Cell>
void RaceRules<Cell>::noteRead(Cell &cell, AccessRecord record, uint32_t cluster,
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
  AccessRecord &slot = cell.read;
  if (slot.kindBits == kMany || slot.kindBits == kPooled) {
    if (slot.kindBits == kPooled || !joinMany(slot, record, accessor))
      pool(slot, record, accessor);
    return;
  }
  bool sameActor = slot && slot.actor == record.actor;
  bool severalLanes = sameActor && slot.clock == record.clock && slot.lane != record.lane;
  // Of one warp only the last read counts: whoever is ordered after it is ordered after the warp's
  // earlier ones.
  if (!slot || sameActor || (accessor && isImplied(slot, cluster, *accessor))) {
    slot = record;
    if (severalLanes)
      slot.lane = AccessRecord::kSeveralLanes;
    return;
  }
  if (!mergeReads(slot, record))
    pool(slot, record, accessor);
}

template <class Cell>
bool RaceRules<Cell>::joinMany(AccessRecord &slot, AccessRecord record, const Accessor *accessor) {
  auto many = std::bit_cast<ManyReads>(slot);
  bool sameKind = record.kind() == (many.proxy ? AccessKind::ProxyRead : AccessKind::Read);
  if (sameKind && many.clock == record.clock && record.actor / 16 == many.group) {
    many.mask |= 1u << record.actor % 16;
    many.instruction = record.instruction;
    slot = std::bit_cast<AccessRecord>(many);
    return true;
  }
  bool mayBeUnfenced = accessor && accessor->fencesReads && !many.proxy;
  if (!accessor || mayBeUnfenced || !coversAll(many, *accessor->clock))
    return false;
  slot = record;
  return true;
}

template <class Cell>
void RaceRules<Cell>::pool(AccessRecord &slot, AccessRecord record, const Accessor *accessor) {
  if (slot.kindBits != kPooled) {
    std::vector<AccessRecord> reads =
        slot.kindBits == kMany ? expand(slot) : std::vector<AccessRecord>{slot};
    if (freePools_.empty()) {
      freePools_.push_back(static_cast<uint32_t>(pools_.size()));
      pools_.emplace_back();
    }
    slot = AccessRecord();
    slot.clock = freePools_.back();
    slot.kindBits = kPooled;
    freePools_.pop_back();
    pools_[slot.clock] = std::move(reads);
  }
  std::vector<AccessRecord> &reads = pools_[slot.clock];
  std::erase_if(reads, [&](AccessRecord read) {
    return read.actor == record.actor ||
           (accessor && isImplied(read, accessor->cluster(), *accessor));
  });
  reads.push_back(record);
}

template class RaceRules<ClusterCell>;
template class RaceRules<GlobalCell>;

} // namespace tile::vgpu
