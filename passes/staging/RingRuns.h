// The runs of a ring: each begins with an acquire of fill 0, or is a loop that acquires fill after fill.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::passes {

/// What of a ring is used while it is filled from fill 0 on until it is empty again: from `first` to `last` in one block.
struct RingRun {
  mlir::Operation *first, *last;
};

/// The runs of a ring in the block of its allocation and in all loops and branches there, in program order.
llvm::SmallVector<RingRun> runsOf(gpu::RingAllocOp ring);

} // namespace tile::passes
