// The common case of an access by a warp to memory of its own cluster: everything before it is ordered. Inline as far as the
// accessor has met the same before, since it is asked of every 16 bytes that a kernel touches.
#pragma once

#include "runtime/vgpu/check/ShadowCell.h"

namespace tile::vgpu {

/// What the order of a stamp depends on, if it says the same of all lanes of the accessor's warp.
inline uint64_t orderBits() {
  Stamp stamp;
  stamp.clock = WarpClock::kLastTime;
  stamp.actor = Stamp::kLastActor;
  stamp.kindBits = 15;
  return stamp.bits();
}

/// What the order of reads depends on, one or many, and what others make of them when they join: all but the instruction.
inline uint64_t readBits(Stamp reads) {
  reads.instruction = 0;
  return reads.bits();
}

/// What the functions below do where the accessor has not met the like.
bool readNew(ClusterCell &cell, const Accessor &accessor);
bool writeNew(ClusterCell &cell, const Accessor &accessor);

/// What an accessor has met, and what its warp knows since the last barrier or proxy fence, at hand for a loop over cells: to
/// be made anew after a cell that it did not take.
class KnownOrder {
public:
  explicit KnownOrder(const Accessor &accessor)
      : write_(accessor.orderedWrite), read_(accessor.orderedRead), joined_(accessor.joinedReads),
        joint_(accessor.jointReads), stamp_(accessor.stamp), blockTime_(accessor.clock->blockTime),
        writeTime_(accessor.proxy ? accessor.proxiedTime : blockTime_),
        blockBegin_(accessor.clock->blockBegin), blockWarps_(accessor.clock->blockWarps) {
    constexpr uint32_t kActorsOfMany = 64;
    if (blockWarps_ > 0 && blockBegin_ + blockWarps_ <= kActorsOfMany)
      blockMask_ = ~uint64_t{0} >> (kActorsOfMany - blockWarps_) << blockBegin_;
  }

  /// False, and nothing is done, if it may be another case.
  bool takesRead(ClusterCell &cell) const {
    if (!isWriteOrdered(cell.write))
      return false;
    uint64_t read = readBits(cell.read);
    if (read == joined_)
      cell.read = joint_;
    else if (read == 0 || read == read_ || read == readBits(stamp_))
      cell.read = stamp_;
    else
      return false;
    return true;
  }
  /// The same of a write.
  bool takesWrite(ClusterCell &cell) const {
    uint64_t read = readBits(cell.read);
    if ((read != 0 && read != read_ && !areBeforeBarrier(cell.read)) || !isWriteOrdered(cell.write))
      return false;
    cell = {stamp_, Stamp()};
    return true;
  }
  template <bool Reads> bool takes(ClusterCell &cell) const {
    return Reads ? takesRead(cell) : takesWrite(cell);
  }
  /// For the next access of the same instruction.
  void setLane(unsigned lane) { stamp_.lane = lane; }

private:
  bool isWriteOrdered(Stamp write) const {
    return (write.bits() & orderBits()) == write_ || isOfBlockUpTo(writeTime_, write);
  }
  // By a warp of the block, not by what is in flight.
  bool isOfBlockUpTo(uint32_t time, Stamp earlier) const {
    return earlier.clock <= time && earlier.actor - blockBegin_ < blockWarps_ &&
           earlier.kind() < AccessKind::CopyWrite;
  }

  bool areBeforeBarrier(Stamp reads) const {
    if (reads.kindBits != kMany)
      return isOfBlockUpTo(blockTime_, reads);
    auto many = std::bit_cast<ManyReads>(reads);
    return many.clock <= blockTime_ && !(uint64_t{many.mask} << 16 * many.group & ~blockMask_);
  }

  uint64_t write_, read_, joined_;
  Stamp joint_, stamp_;
  uint32_t blockTime_; // what the block's warps have read up to then is ordered
  uint32_t writeTime_; // what they have written
  uint32_t blockBegin_, blockWarps_;
  uint64_t blockMask_ = 0; // of those actors that ManyReads can name
};

inline bool quickRead(ClusterCell &cell, const Accessor &accessor) {
  return KnownOrder(accessor).takesRead(cell) || readNew(cell, accessor);
}
inline bool quickWrite(ClusterCell &cell, const Accessor &accessor) {
  return KnownOrder(accessor).takesWrite(cell) || writeNew(cell, accessor);
}

} // namespace tile::vgpu
