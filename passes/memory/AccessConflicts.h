// Which accesses of memory the threads of a program must meet between.
#pragma once

#include "passes/memory/MemoryAccess.h"

namespace tile::passes {

/// Must threads wait for each other between two accesses? `later` may be in the next iteration of a
/// loop around both.
bool conflict(const Access &earlier, const Access &later);

/// Why there is a barrier between two accesses, for reports.
std::string reasonFor(const Access &earlier, const Access &later);

} // namespace tile::passes
