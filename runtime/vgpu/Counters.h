// What a kernel did to the machine, counted while it runs: never times, only events.
#pragma once

#include <cstdint>

namespace tile::vgpu {

struct Counters {
  uint64_t warpInstructions = 0;
  uint64_t mma = 0;              // mma.sync instructions
  uint64_t sharedRequests = 0;   // warp-level accesses to shared memory
  uint64_t sharedWavefronts = 0; // cycles of the banks they took
  uint64_t sharedIdeal = 0;      // cycles they would take without conflicts
  uint64_t globalRequests = 0;
  uint64_t globalSectors = 0;   // distinct 32-byte sectors per request
  uint64_t globalBytesUsed = 0; // distinct bytes asked for
  uint64_t barriers = 0;

  uint64_t bankConflicts() const { return sharedWavefronts - sharedIdeal; }

  Counters &operator+=(const Counters &other) {
    warpInstructions += other.warpInstructions;
    mma += other.mma;
    sharedRequests += other.sharedRequests;
    sharedWavefronts += other.sharedWavefronts;
    sharedIdeal += other.sharedIdeal;
    globalRequests += other.globalRequests;
    globalSectors += other.globalSectors;
    globalBytesUsed += other.globalBytesUsed;
    barriers += other.barriers;
    return *this;
  }
};

} // namespace tile::vgpu
