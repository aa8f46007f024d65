// The runs of a ring: from fill 0 until the ring is empty again. A run begins with an acquire of
// fill 0 or with a loop that acquires in each iteration.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::passes {

/// The operations `first` to `last` of one block, which hold all uses of the ring in one run.
struct RingRun {
  mlir::Operation *first, *last;
};

llvm::SmallVector<RingRun> runsOf(gpu::RingAllocOp ring);

/// The barrier after the initialization of another ring's mbarriers, if only fills of that ring
/// stand between it and the run; else null. The run can initialize its own mbarriers before that
/// barrier.
gpu::BarrierOp initBarrierBefore(RingRun run);

/// The releases that a later refill may wait for: those in loops, and those before a later acquire.
/// After the last loop no stage is filled again.
llvm::DenseSet<mlir::Operation *> awaitedReleases(gpu::RingAllocOp ring);

} // namespace tile::passes
