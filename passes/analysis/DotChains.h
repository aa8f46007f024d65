// Products that feed one another row by row. Attention's second product takes its A from the first
// one's result, and scales its accumulator by values that were reduced from the first one's rows:
// where the warps share the rows of both in the same way, neither leaves its warp. Who chooses how
// products are carried out asks here which belong together.
#pragma once

#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// Products tied to one another; one alone where nothing ties it to others.
struct DotChain {
  llvm::SmallVector<ir::DotOp> dots; ///< in program order
  /// Does one of them take its A from another, row by row?
  bool passesRows = false;
  /// Does a value that was reduced from a row of one of them reach the same row of another?
  bool passesReductions = false;
};

/// The chains of a function. A product joins another's chain if rows of the other's result, as they
/// are or reduced, carried by loops or not, reach the same rows of its A or accumulator through
/// operations that keep rows apart: elementwise ones, conversions, broadcasts, changes of shape,
/// reductions and scans of columns.
class DotChains {
public:
  explicit DotChains(mlir::func::FuncOp function);

  llvm::ArrayRef<DotChain> all() const { return chains_; }

  /// Is A of the product computed from another one's result? Such an A is in registers before it is
  /// used, others come from memory.
  bool hasComputedA(ir::DotOp dot) const { return computesA_.contains(dot); }

private:
  llvm::SmallVector<DotChain> chains_;
  llvm::DenseSet<mlir::Operation *> computesA_;
};

} // namespace tile::passes
