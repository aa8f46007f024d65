// The pairs of memory accesses that need a barrier between them.
#pragma once

#include "passes/memory/MemoryAccess.h"

namespace tile::passes {

/// Must threads synchronize between two accesses? `later` may be in the next iteration of a loop
/// around both.
bool conflict(const Access &earlier, const Access &later);

/// Why there is a barrier between two accesses, for reports.
std::string reasonFor(const Access &earlier, const Access &later);

} // namespace tile::passes
