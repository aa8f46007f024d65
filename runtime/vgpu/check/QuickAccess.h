// The fast path of the race check: an access to memory of its own cluster that is ordered after
// everything in the cell, as nearly all are. It runs for every 16 bytes that a kernel touches, so
// cells in a state that the accessor has seen before are handled inline, by comparing bits.
#pragma once

#include "runtime/vgpu/check/ShadowCell.h"

namespace tile::vgpu {

/// The bits of a record that decide whether it is ordered, if that is the same for all lanes of the
/// accessor's warp.
inline uint64_t orderBits() {
  AccessRecord record;
  record.clock = WarpClock::kLastTime;
  record.actor = AccessRecord::kLastActor;
  record.kindBits = 15;
  return record.bits();
}

/// The bits of reads, one or many, that decide whether they are ordered and what joining them
/// gives: all but the instruction.
inline uint64_t readBits(AccessRecord reads) {
  reads.instruction = 0;
  return reads.bits();
}

/// The slow path: the cell is in a state that the accessor has not seen. It updates the cell and
/// notes the state in the accessor; false, and nothing is done, if the general rules must decide.
bool readNew(ClusterCell &cell, const Accessor &accessor);
bool writeNew(ClusterCell &cell, const Accessor &accessor);

/// A copy of what the accessor knows to be ordered, in registers for a loop over cells. The slow
/// path changes the accessor, so a new copy must be made after each cell that was refused here.
class KnownOrder {
public:
  explicit KnownOrder(const Accessor &accessor)
      : write_(accessor.orderedWrite), read_(accessor.orderedRead), joined_(accessor.joinedReads),
        joint_(accessor.jointReads), record_(accessor.record),
        blockTime_(accessor.clock->blockTime),
        writeTime_(accessor.proxy ? accessor.proxiedTime : blockTime_),
        blockBegin_(accessor.clock->blockBegin), blockWarps_(accessor.clock->blockWarps) {
    constexpr uint32_t kActorsOfMany = 64;
    if (blockWarps_ > 0 && blockBegin_ + blockWarps_ <= kActorsOfMany)
      blockMask_ = ~uint64_t{0} >> (kActorsOfMany - blockWarps_) << blockBegin_;
  }

  /// Reads the cell if its state is known to be ordered; else false, and nothing is done.
  bool takesRead(ClusterCell &cell) const {
    if (!isWriteOrdered(cell.write))
      return false;
    uint64_t read = readBits(cell.read);
    if (read == joined_)
      cell.read = joint_;
    else if (read == 0 || read == read_ || read == readBits(record_))
      cell.read = record_;
    else
      return false;
    return true;
  }
  /// Writes the cell likewise.
  bool takesWrite(ClusterCell &cell) const {
    uint64_t read = readBits(cell.read);
    if ((read != 0 && read != read_ && !areBeforeBarrier(cell.read)) || !isWriteOrdered(cell.write))
      return false;
    cell = {record_, AccessRecord()};
    return true;
  }
  template <bool Reads> bool takes(ClusterCell &cell) const {
    return Reads ? takesRead(cell) : takesWrite(cell);
  }
  /// For the next access of the same instruction.
  void setLane(unsigned lane) { record_.lane = lane; }

private:
  bool isWriteOrdered(AccessRecord write) const {
    return (write.bits() & orderBits()) == write_ || isOfBlockUpTo(writeTime_, write);
  }
  // True for an access by a warp of the block up to `time`; what is in flight has no such time.
  bool isOfBlockUpTo(uint32_t time, AccessRecord earlier) const {
    return earlier.clock <= time && earlier.actor - blockBegin_ < blockWarps_ &&
           earlier.kind() < AccessKind::CopyWrite;
  }

  bool areBeforeBarrier(AccessRecord reads) const {
    if (reads.kindBits != kMany)
      return isOfBlockUpTo(blockTime_, reads);
    auto many = std::bit_cast<ManyReads>(reads);
    return many.clock <= blockTime_ && !(uint64_t{many.mask} << 16 * many.group & ~blockMask_);
  }

  uint64_t write_, read_, joined_;
  AccessRecord joint_, record_;
  uint32_t blockTime_; // reads by warps of the block up to it are ordered
  uint32_t writeTime_; // writes by them
  uint32_t blockBegin_, blockWarps_;
  uint64_t blockMask_ = 0; // the warps of the block, as far as ManyReads can name them
};

inline bool quickRead(ClusterCell &cell, const Accessor &accessor) {
  return KnownOrder(accessor).takesRead(cell) || readNew(cell, accessor);
}
inline bool quickWrite(ClusterCell &cell, const Accessor &accessor) {
  return KnownOrder(accessor).takesWrite(cell) || writeNew(cell, accessor);
}

} // namespace tile::vgpu
