// The slow path of quick accesses: decides from the clock, and notes the answer for the cells that
// follow.
#include "runtime/vgpu/check/QuickAccess.h"

namespace tile::vgpu {
namespace {

// True if an access of the same cluster is ordered before, by whole warps alone: parts are left to
// the general rules.
bool isOrderedInside(AccessRecord earlier, const Accessor &accessor) {
  const WarpClock &clock = *accessor.clock;
  if (earlier.actor == clock.actor)
    return earlier.lane == accessor.lane || earlier.clock <= clock.laneTime;
  return clock.current.own.ordered.at(earlier.actor) >= earlier.clock;
}

// True if the order says the same of all lanes of the accessor's warp.
bool isOfAllLanes(AccessRecord earlier, const Accessor &accessor) {
  const WarpClock &clock = *accessor.clock;
  return earlier.actor != clock.actor || earlier.clock <= clock.laneTime;
}

// The last write is ordered before the access, and through a fence if the proxies differ.
bool isPlainlyOrdered(AccessRecord write, const Accessor &accessor) {
  uint64_t key = write.bits() & orderBits();
  if (key == accessor.orderedWrite)
    return true;
  if (write.kind() == AccessKind::CopyWrite)
    return false;
  if (accessor.proxy && write.kind() != AccessKind::ProxyWrite &&
      accessor.clock->current.own.proxied.at(write.actor) < write.clock)
    return false;
  if (!isOrderedInside(write, accessor))
    return false;
  if (isOfAllLanes(write, accessor))
    accessor.orderedWrite = key;
  return true;
}

// Adds the accessor to the reads of a cell, and notes the result: the next cells are mostly in the
// same state.
void join(AccessRecord &reads, AccessRecord joint, const Accessor &accessor) {
  accessor.joinedReads = readBits(reads);
  accessor.jointReads = joint;
  reads = joint;
}

// True if the reads of a cell are ordered before the accessor's write.
bool isOrderedRead(AccessRecord read, const Accessor &accessor) {
  bool isOfAll = false;
  if (read.kindBits == kMany) {
    // A mask of warps does not say which lanes read; the own warp's are taken to be ordered rather
    // than reported wrongly.
    auto many = std::bit_cast<ManyReads>(read);
    const WarpClock &clock = *accessor.clock;
    if (clock.actor / 16 == many.group)
      many.mask &= ~(1u << clock.actor % 16);
    isOfAll = true;
    if (!coversAll(many, clock))
      return false;
  } else {
    isOfAll = isOfAllLanes(read, accessor);
    if (!isOrderedInside(read, accessor))
      return false;
  }
  if (isOfAll)
    accessor.orderedRead = readBits(read);
  return true;
}

} // namespace

bool readNew(ClusterCell &cell, const Accessor &accessor) {
  AccessRecord write = cell.write, &read = cell.read;
  if (write.kindBits >= kInParts || !isPlainlyOrdered(write, accessor))
    return false;
  const AccessRecord &record = accessor.record;
  if (read == AccessRecord() || readBits(read) == accessor.orderedRead) {
    read = record;
    return true;
  }
  if (read.kindBits == kMany) {
    auto many = std::bit_cast<ManyReads>(read);
    if (many.clock == record.clock && many.group == record.actor / 16 &&
        many.proxy == accessor.proxy) {
      many.mask |= 1u << record.actor % 16;
      many.instruction = record.instruction;
      join(read, std::bit_cast<AccessRecord>(many), accessor);
      return true;
    }
    if (!coversAll(many, *accessor.clock))
      return false;
    accessor.orderedRead = readBits(read);
    read = record;
    return true;
  }
  if (read.kindBits == kPooled)
    return false;
  bool sameActor = read.actor == record.actor;
  if (!sameActor && !isOrderedInside(read, accessor)) {
    AccessRecord both = read;
    if (!mergeReads(both, record))
      return false;
    join(read, both, accessor);
    return true;
  }
  bool severalLanes = sameActor && read.clock == record.clock && read.lane != record.lane;
  if (!sameActor && isOfAllLanes(read, accessor))
    accessor.orderedRead = readBits(read);
  read = record;
  if (severalLanes)
    read.lane = AccessRecord::kSeveralLanes;
  return true;
}

bool writeNew(ClusterCell &cell, const Accessor &accessor) {
  AccessRecord write = cell.write, read = cell.read;
  if (write.kindBits >= kInParts || !isPlainlyOrdered(write, accessor))
    return false;
  if (read != AccessRecord() && readBits(read) != accessor.orderedRead) {
    if (read.kindBits == kPooled || !isOrderedRead(read, accessor))
      return false;
  }
  cell.write = accessor.record;
  cell.read = AccessRecord();
  return true;
}

} // namespace tile::vgpu
