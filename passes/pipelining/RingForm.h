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
  bool hasProducer;     ///< a producer warp fills it
  /// Each warpgroup goes through iterations by itself, since warpgroups issue their dots in a fixed
  /// order or a producer warp, which no barrier of all threads may hold, fills the ring. TMA alone
  /// then fills it, and empty mbarriers say when a stage is free.
  bool warpgroupsRunIndependently;
  bool isSharedByTeams = false; ///< its fills do not depend on the team
  bool isPingPong = false;      ///< and teams alternate the tiles of its loop
  /// Copies of which each block of a cluster multicasts a share to all.
  llvm::DenseSet<mlir::Operation *> shared;

  bool isOfCluster() const { return !shared.empty(); }
};

/// Is this a copy to a stage by TMA?
bool isByTma(mlir::Operation *op);

/// The waits for a fill of the ring that stand in the bodies of loops.
llvm::SmallVector<gpu::ConsumerWaitOp> waitsOfLoops(gpu::RingAllocOp ring);

/// Does an operation execute at most once each time that the ring is allocated?
bool executesAtMostOncePer(mlir::Operation *op, gpu::RingAllocOp ring);

} // namespace tile::passes
