// A loop around one other, which FlattenLoops may make one loop and PingPongLoops may divide among
// teams.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace tile::passes {

struct LoopNest {
  mlir::scf::ForOp outer, inner;
  llvm::SmallVector<mlir::Operation *> before, after; ///< in the outer body, around the inner loop
  /// Scalars that are computed before the inner loop and used in it or after it: a flattened loop
  /// carries them.
  llvm::SmallVector<mlir::Value> carried;

  /// Is the inner loop the whole outer body? Then it takes and yields the carried values as they
  /// are.
  bool isInnerAll() const;
};

/// The nest whose outer loop this is, with bounds of the inner loop that the outer body computed
/// and could have been computed before moved there. Null loops, with a sentence in *why, if the
/// outer body holds not just one loop or its bounds depend on the outer index.
LoopNest nestOf(mlir::scf::ForOp outer, std::string *why = nullptr);

/// Why a nest with work beside its inner loop cannot become one loop; empty if it can.
std::string whyNotFlattenable(const LoopNest &nest);

/// The number of iterations of a loop whose step is positive. For a loop whose bounds differ by
/// role those of the producer if `all`.
mlir::Value tripCountOf(mlir::OpBuilder &b, mlir::scf::ForOp loop, bool all = false);

} // namespace tile::passes
