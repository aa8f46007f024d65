// The values that depend on a block's rank in its cluster. All others are the same in all its
// blocks, which execute one program.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

class RankDependence {
public:
  explicit RankDependence(mlir::func::FuncOp kernel);

  /// Does the value depend on the rank, or the thread that holds it?
  bool follows(mlir::Value value) const { return values_.contains(value); }
  /// Does an operation execute equally often in all blocks, as far as loops and branches decide?
  bool isInAllBlocks(mlir::Operation *op) const;

private:
  void add(mlir::Value value);
  void addResultsOf(mlir::Operation *user, mlir::OpOperand &operand);

  llvm::DenseSet<mlir::Value> values_;
  llvm::SmallVector<mlir::Value> open_; ///< whose users are still to be visited
};

} // namespace tile::passes
