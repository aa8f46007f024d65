// The two parts of a rotated loop's body, as they are written beside each other.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "passes/pipelining/analysis/LoopSkew.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tile::passes {

/// Clones the two parts to where they are wanted: each operation once, after those that it takes
/// results of.
class PartsWriter {
public:
  /// `rings` are those that the iterations fill.
  PartsWriter(mlir::OpBuilder &b, mlir::scf::ForOp loop, const LoopSkew &skew,
              llvm::ArrayRef<mlir::Value> rings)
      : b_(b), loop_(loop), skew_(skew), rings_(rings) {}

  /// Values of the lagging part's iteration, and of the leading one's.
  mlir::IRMapping now, next;

  /// Writes an operation of the leading part for the next iteration.
  void lead(mlir::Operation *op);
  /// Writes an operation of the lagging part for this iteration.
  void lag(mlir::Operation *op);
  /// What a variable of the loop is behind the lagging part's iteration.
  mlir::Value yieldedOf(mlir::BlockArgument variable);

private:
  void lagStepsBefore(mlir::Operation *op);
  llvm::SmallVector<mlir::Operation *> readersBefore(mlir::Operation *op) const;
  void bringVariable(mlir::BlockArgument variable);
  void clone(mlir::Operation *op, mlir::IRMapping &at);

  mlir::OpBuilder &b_;
  mlir::scf::ForOp loop_;
  const LoopSkew &skew_;
  llvm::ArrayRef<mlir::Value> rings_;
  llvm::DenseSet<mlir::Operation *> led_, lagged_;
  llvm::SmallVector<mlir::Operation *> begun_;
};

} // namespace tile::passes
