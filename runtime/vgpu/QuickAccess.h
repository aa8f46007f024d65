// The common case of an access by a warp to memory of its own cluster: everything before it is ordered. Inline as far as the
// accessor has met the same before, since it is asked of every 16 bytes that a kernel touches.
#pragma once

#include "runtime/vgpu/RaceCell.h"

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

/// False, and nothing is done, if it may be another case.
inline bool quickRead(ClusterCell &cell, const Accessor &accessor) {
  if ((cell.write.bits() & orderBits()) == accessor.orderedWrite) {
    uint64_t read = readBits(cell.read);
    if (read == accessor.joinedReads) {
      cell.read = accessor.jointReads;
      return true;
    }
    if (read == 0 || read == accessor.orderedRead) {
      cell.read = accessor.stamp;
      return true;
    }
  }
  return readNew(cell, accessor);
}

/// The same of a write.
inline bool quickWrite(ClusterCell &cell, const Accessor &accessor) {
  uint64_t read = readBits(cell.read);
  if ((cell.write.bits() & orderBits()) == accessor.orderedWrite &&
      (read == 0 || read == accessor.orderedRead)) {
    cell.write = accessor.stamp;
    cell.read = Stamp();
    return true;
  }
  return writeNew(cell, accessor);
}

} // namespace tile::vgpu
