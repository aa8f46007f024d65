// The part of a skewed body that reads what its loop loads.
#pragma once

#include "passes/pipelining/analysis/LoopSkew.h"

namespace tile::passes {

/// The readers of `tiles` in the loop body: loads, dots, and the waits for those dots.
llvm::SmallVector<mlir::Operation *> readersOf(gpu::ConsumerWaitOp get, mlir::ValueRange tiles);

struct TilesOfReaders {
  bool isLedFrom = false, isLaggedFrom = false;
  llvm::SmallVector<int32_t> tiles;

  /// The fewest stages with which every fill is issued at least one iteration before it is read:
  /// the stage being read and one more. If both parts read, a fill is held for one iteration
  /// longer.
  int32_t fewestStages() const { return isLedFrom && isLaggedFrom ? 3 : 2; }
};

/// The rings into which a ring is split: one per combination of parts that read. A ring that
/// threads fill stays one, since all threads synchronize at each ring's wait.
llvm::SmallVector<TilesOfReaders> ringsByReaders(gpu::ConsumerWaitOp get, const LoopSkew &skew);

gpu::ConsumerWaitOp getOf(mlir::Value ring, mlir::scf::ForOp loop);

} // namespace tile::passes
