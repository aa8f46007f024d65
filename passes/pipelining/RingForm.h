// The implementation of a ring: who fills its stages, who reads them, and who waits for whom.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace tile::passes {

struct RingForm {
  explicit RingForm(gpu::RingAllocOp ring);

  bool hasThreadCopies, hasTmaCopies, hasPuts;
  bool isReadByWgmma;
  bool isReadByThreads; ///< by loads, not by wgmma alone
  bool hasProducer;     ///< a producer warp fills it
  /// No barrier of all threads orders the iterations, since warpgroups issue dots in a fixed order
  /// or a producer warp, which must not be held up, fills the ring. Then TMA alone fills it, and
  /// *empty* mbarriers show when a stage is free.
  bool warpgroupsRunIndependently;
  bool isSharedByTeams = false; ///< no fill depends on the team
  bool isPingPong = false;      ///< teams alternate the tiles of its loop
  /// Copies that the blocks of a cluster divide: each block multicasts its share to all.
  llvm::DenseSet<mlir::Operation *> shared;

  bool isOfCluster() const { return !shared.empty(); }
};

bool isByTma(mlir::Operation *op);

/// The waits in the bodies of loops, not those of a prologue or an epilogue.
llvm::SmallVector<gpu::ConsumerWaitOp> waitsOfLoops(gpu::RingAllocOp ring);

/// Does an operation execute at most once per execution of the ring's allocation?
bool executesAtMostOncePer(mlir::Operation *op, gpu::RingAllocOp ring);

} // namespace tile::passes
