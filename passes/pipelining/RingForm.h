// How a ring is carried out: who fills its stages, who reads them, and who waits for whom.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace tile::passes {

struct RingForm {
  explicit RingForm(gpu::RingAllocOp ring);

  bool hasThreadCopies, hasTmaCopies, hasPuts;
  bool isReadByWgmma;
  bool isReadByThreads; ///< not by wgmma alone
  bool hasProducer;     ///< a warp that does nothing else fills it
  /// Groups of warps go through iterations by themselves: where they take turns no barrier of all threads may hold them together,
  /// and none holds a warp that only fills. What the engine fills needs none.
  bool warpgroupsRunIndependently;
  bool isOfBlock =
      false; ///< teams have it in common: what it is filled with does not depend on them
  bool isInTurn = false; ///< and take turns at the passes of its loop
  /// Copies of which each block of a cluster makes a part, for all.
  llvm::DenseSet<mlir::Operation *> shared;

  bool isOfCluster() const { return !shared.empty(); }
};

/// Is this a copy to a stage by the copy engine?
bool isByTma(mlir::Operation *op);

/// The gets of loops that get a fill of the ring in each iteration.
llvm::SmallVector<gpu::ConsumerWaitOp> getsOfLoops(gpu::RingAllocOp ring);

/// Is an operation carried out no more often than the ring is made?
bool isOnceAtMost(mlir::Operation *op, gpu::RingAllocOp ring);

} // namespace tile::passes
