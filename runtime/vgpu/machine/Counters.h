// Counters of what a kernel does to the machine, kept while it runs: events only, never times.
#pragma once

#include "runtime/vgpu/check/CodeLocation.h"
#include "runtime/vgpu/machine/InstructionClass.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tile::vgpu {

/// Events of one instruction, or of a whole launch.
struct Counters {
  uint64_t warpInstructions = 0;
  uint64_t activeLanes = 0;      // lanes at the instruction, summed over its executions
  uint64_t executedLanes = 0;    // those of them whose guard was true
  uint64_t mma = 0;              // mma and wgmma instructions
  uint64_t macs = 0;             // their multiply-adds
  uint64_t sharedRequests = 0;   // warp-level accesses to shared memory
  uint64_t sharedWavefronts = 0; // cycles of the banks they took
  uint64_t sharedIdeal = 0;      // cycles they would take without conflicts
  uint64_t globalRequests = 0;   // warp-level accesses to global memory
  uint64_t globalSectors = 0;    // distinct 32-byte sectors per request
  uint64_t globalLines = 0;      // distinct 128-byte lines per request
  uint64_t globalBytesUsed = 0;  // distinct bytes asked for
  // Counted for launches, not for instructions, and added up over them:
  uint64_t distinctSectorsLoaded =
      0; // 32-byte sectors that loads, copies and atomics read, each counted once
  uint64_t distinctSectorsStored = 0; // the same of writes
  uint64_t atomics = 0;               // read-modify-writes of single lanes
  uint64_t asyncBytes = 0;            // moved by copies that go on by themselves
  uint64_t waits = 0;                 // times a warp stopped to wait
  uint64_t barriers = 0;              // phases of barriers completed
  uint64_t sharedTouched = 0; // the most bytes of shared memory, from its begin, a block used

  static constexpr uint64_t kSectorBytes = 32;
  uint64_t bankConflicts() const { return sharedWavefronts - sharedIdeal; }
  uint64_t globalBytesMoved() const { return kSectorBytes * globalSectors; }
  /// The bytes that a memory with an ideal cache moves: each sector in at most once, and out at
  /// most once.
  uint64_t distinctBytes() const {
    return kSectorBytes * (distinctSectorsLoaded + distinctSectorsStored);
  }
  /// A share of 1, which is 1 where nothing moved.
  double sectorEfficiency() const {
    return globalSectors ? static_cast<double>(globalBytesUsed) / globalBytesMoved() : 1;
  }
  /// An average of up to 32 lanes, 0 where nothing ran.
  double meanActiveLanes() const {
    return warpInstructions ? static_cast<double>(activeLanes) / warpInstructions : 0;
  }

  Counters &operator+=(const Counters &other);
};

/// Figures of a launch that are known without counters too.
struct LaunchStatistics {
  uint64_t launches = 0, blocks = 0, warpInstructions = 0;
  double seconds = 0, cpuSeconds = 0; // on the host: by the clock, and of all its threads

  LaunchStatistics &operator+=(const LaunchStatistics &other) {
    launches += other.launches;
    blocks += other.blocks;
    warpInstructions += other.warpInstructions;
    seconds += other.seconds;
    cpuSeconds += other.cpuSeconds;
    return *this;
  }
};

/// Warp instructions by class, indexed by InstructionClass.
using InstructionMix = std::array<uint64_t, kInstructionClasses>;

/// The counters of one line of PTX.
struct LineCounters : CodeLocation {
  InstructionClass kind = InstructionClass::Other;
  Counters counters;
};

InstructionMix mixOf(const std::vector<LineCounters> &lines);
/// The lines of PTX of each source line together, in the order of the source; only `sourceFile`,
/// `sourceLine` and `counters` are set. Lines without a source are left out.
std::vector<LineCounters> bySource(const std::vector<LineCounters> &lines);

} // namespace tile::vgpu
