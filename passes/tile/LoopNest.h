// A loop around one other loop, for FlattenLoops, which merges them, and PingPongLoops, which
// divides the outer one among teams.
#pragma once

#include "base/Refusal.h"
#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {

struct LoopNest {
  mlir::scf::ForOp outer, inner;
  llvm::SmallVector<mlir::Operation *> before, after; ///< in the outer body, around the inner loop
  /// Scalars that are computed before the inner loop and used in or after it: a flattened loop
  /// carries them.
  llvm::SmallVector<mlir::Value> carried;

  /// Is the nest perfect, with an inner loop that takes and yields the carried values unchanged?
  bool isInnerAll() const;
};

/// The nest with this outer loop. Pure operations of the outer body that do not depend on its index
/// are moved before the nest, since the inner bounds may need them. Returns null loops, with a
/// sentence in *why, if the outer body does not hold exactly one loop or the inner bounds depend on
/// the outer index.
LoopNest nestOf(mlir::scf::ForOp outer, Refusal *why = nullptr);

/// Why a nest that is not perfect cannot become one loop; empty if it can.
Refusal whyNotFlattenable(const LoopNest &nest);

/// The trip count of a loop with a positive step. If its bounds differ by role and `all` is set,
/// that of the producer.
mlir::Value tripCountOf(mlir::OpBuilder &b, mlir::scf::ForOp loop, bool all = false);

} // namespace tile::passes
