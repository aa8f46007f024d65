// The runs of a ring: each begins with an acquire of fill 0, or is a loop that acquires fill after
// fill; what of them stands beside fills of the same ring or another.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::passes {

/// What of a ring is used while it is filled from fill 0 on until it is empty again: from `first`
/// to `last` in one block.
struct RingRun {
  mlir::Operation *first, *last;
};

/// The runs of a ring in the block of its allocation and in all loops and branches there, in
/// program order.
llvm::SmallVector<RingRun> runsOf(gpu::RingAllocOp ring);

/// The meeting of all threads behind the making of another ring's barriers, with a fence before it,
/// if only fills of that ring stand between it and a run; null if there is none.
gpu::BarrierOp initBarrierBefore(RingRun run);

/// The releases of a ring that later fills wait for: those in loops and before them. Behind the
/// last loop no stage is filled again.
llvm::DenseSet<mlir::Operation *> awaitedReleases(gpu::RingAllocOp ring);

} // namespace tile::passes
