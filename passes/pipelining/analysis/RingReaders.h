// Which part of a rotated body reads what its loop loads.
#pragma once

#include "passes/pipelining/analysis/LoopSkew.h"

namespace tile::passes {

/// What reads tiles of a fill in the body of a loop: loads and products, and the waits for these.
llvm::SmallVector<mlir::Operation *> readersOf(gpu::ConsumerWaitOp get, mlir::ValueRange tiles);

/// Tiles of a ring, by number, that the same parts of the body read.
struct TilesOfReaders {
  bool isLedFrom = false, isLaggedFrom = false;
  llvm::SmallVector<int32_t> tiles;

  /// Stages from which on the part that reads finds each fill on its way an iteration before: that
  /// which is read and one more. If both parts read, one takes an iteration longer than the other.
  int32_t fewestStages() const { return isLedFrom && isLaggedFrom ? 3 : 2; }
};

/// The rings that a loop is to have, of what comes in one: a ring for each choice of parts that
/// read some of it, so that each is released when these are done. Where threads copy they meet at
/// each ring's get: there it stays one.
llvm::SmallVector<TilesOfReaders> ringsByReaders(gpu::ConsumerWaitOp get, const LoopSkew &skew);

/// The operation that gets a fill of a ring in the body of a loop; null if there is none.
gpu::ConsumerWaitOp getOf(mlir::Value ring, mlir::scf::ForOp loop);

} // namespace tile::passes
