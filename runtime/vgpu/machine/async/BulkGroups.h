// The bulk groups of a warp's threads: bulk copies out of shared memory, which a thread waits for
// by group.
#pragma once

#include <cstdint>
#include <deque>

namespace tile::vgpu {

struct Op;

/// Two actors of the warp order its bulk copies: one their reads, one their writes. A copy's time
/// is its number. A wait raises the warp's clock for them to the time before the first copy that
/// may still run.
struct BulkGroups {
  struct Copy {
    uint32_t time = 0;
    uint32_t group = 0; // of its thread
    uint8_t lane = 0;
    const Op *op = nullptr;
    bool hasRead = false, hasWritten = false;
  };
  std::deque<Copy> copies; // not waited for, in the order of issue
  uint32_t commits[32] = {};
  uint32_t issued = 0;
  unsigned readActor = 0, writeActor = 0; // 0: none yet

  void reset() { *this = {}; }
};

} // namespace tile::vgpu
