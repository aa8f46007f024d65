// How many blocks an SM holds at once, from what one block needs.
#pragma once

#include "ir/target/Target.h"

#include <optional>
#include <string>

namespace tile::codegen {

struct Occupancy {
  int64_t blocksPerSm = 0;
  int64_t warpsPerSm = 0, maxWarpsPerSm = 0;
  std::string
      limit; ///< "registers", "shared memory", "threads", "blocks"; joined by " and " where several are equal
  double fraction() const { return maxWarpsPerSm ? double(warpsPerSm) / double(maxWarpsPerSm) : 0; }
};

/// Blocks that fit at once. Without `registers` (of a thread) their limit is left out.
Occupancy occupancyOf(const ir::Target &target, int64_t threads, std::optional<int64_t> registers,
                      int64_t sharedBytes);

} // namespace tile::codegen
