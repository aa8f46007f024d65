// Probes of whole warps.
#pragma once

#include "tests/hardware/Probe.h"

namespace tile::hardware {

struct LaneOptions {
  uint32_t warps = 4;
  std::vector<std::string> kinds = {"u32", "u32", "u32"}; // of the operands
  std::string declarations = "";
};

/// Blocks of a warp, in which `code` computes %d and %e of the operands %a, %b, %c, or of as many as there are
/// kinds. It may use %lane, %block, the predicates %p and %q, and the words %r0 to %r4 and %f0 to %f3.
Probe laneProbe(const std::string &name, const std::string &code, uint64_t seed,
                const LaneOptions &options = {});

} // namespace tile::hardware
