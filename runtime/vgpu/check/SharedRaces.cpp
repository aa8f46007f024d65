// Finds the cells of an access in the shadow of a block's shared memory.
#include "runtime/vgpu/check/AddressWindows.h"
#include "runtime/vgpu/check/Races.h"

namespace tile::vgpu {

void SharedRaces::reset(uint32_t sharedBytes) {
  shadow_.reset(sharedBytes);
  rules_.clear();
}

static RaceAddress sharedAddress(uint32_t at) {
  return {Space::Shared, uint64_t{at} + kSharedBase};
}

void SharedRaces::access(const Accessor &accessor, uint32_t offset, uint32_t bytes,
                         bool sameValue) {
  shadow_.access(rules_, accessor, offset, bytes, sameValue, sharedAddress);
}

void SharedRaces::readRanges(const Accessor &accessor, std::span<const ShadowRange> ranges) {
  shadow_.readRanges(rules_, accessor, ranges, sharedAddress);
}

uint32_t SharedRaces::readChunks(const Accessor &accessor, const uint32_t (&offsets)[32],
                                 uint32_t which) {
  return shadow_.readChunks(accessor, offsets, which);
}

void SharedRaces::writeChunks(Accessor accessor, const uint32_t (&offsets)[32], uint32_t which) {
  shadow_.writeChunks(rules_, accessor, offsets, which, sharedAddress);
}

void SharedRaces::endCopies(const Accessor &accessor, const uint32_t (&offsets)[32], uint32_t which,
                            uint32_t bytes) {
  AccessRecord ended = accessor.record;
  for (; which; which &= which - 1) {
    auto lane = static_cast<unsigned>(std::countr_zero(which));
    shadow_.forCells(rules_, offsets[lane], bytes, [&](ClusterCell &cell) {
      AccessRecord &write = cell.write;
      if (!write || write.kind() != AccessKind::CopyWrite || write.lane != lane ||
          write.actor != ended.actor)
        return;
      write.kindBits = static_cast<uint64_t>(AccessKind::Write);
      write.clock = ended.clock;
    });
  }
}

} // namespace tile::vgpu
