// What follows from the rank of a block in its cluster. What does not is the same in all blocks of
// the cluster, which carry out one program.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

class RankDependence {
public:
  explicit RankDependence(mlir::func::FuncOp kernel);

  /// Does a value, or which thread has it, follow from the rank?
  bool follows(mlir::Value value) const { return values_.contains(value); }
  /// Is an operation carried out as often in all blocks, as far as loops and branches decide?
  bool isInAllBlocks(mlir::Operation *op) const;

private:
  void add(mlir::Value value);
  void addResultsOf(mlir::Operation *user, mlir::OpOperand &operand);

  llvm::DenseSet<mlir::Value> values_;
  llvm::SmallVector<mlir::Value> open_; ///< whose users are left to be looked at
};

} // namespace tile::passes
