// What machine code that was compiled ahead of time takes for granted of its arguments. The JIT compiles for each call what
// its arguments allow; here a call takes the first variant whose needs its arguments meet.
#pragma once

#include "frontend/call/ArgFacts.h"

#include <tile/detail/KernelRecord.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tile::aot {

/// A value of an argument that the kernel asked for while it was traced: its code is for this one.
struct NeededValue {
  frontend::ValueUse use;
  uint64_t value = 0;
};

struct Needs {
  /// `sameAs` of one: it may be the same view as that, or as any other that says so.
  std::vector<frontend::ArgFacts> args;
  std::vector<frontend::TileUse> tiles; ///< by argument: how far accesses reach beyond extents
  std::vector<NeededValue> values;
};

/// Why arguments do not meet them, "arg 1 'x': its address must be a multiple of 16 bytes"; empty if they do. Number,
/// kinds, dtypes and ranks have been checked, and arguments that are one view are marked.
std::string unmetNeed(const Needs &needs, const detail::KernelRecord &record,
                      std::span<const detail::HostArg> args);

} // namespace tile::aot
