// Writes the leading and the lagging part of a skewed loop next to each other.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "passes/pipelining/analysis/LoopSkew.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace tile::passes {

/// Clones operations of both parts on demand: each once, after the operations whose results it
/// takes.
class PartsWriter {
public:
  PartsWriter(mlir::OpBuilder &b, mlir::scf::ForOp loop, const LoopSkew &skew,
              llvm::ArrayRef<mlir::Value> rings)
      : b_(b), loop_(loop), skew_(skew), rings_(rings) {}

  /// Values of iteration i, which `lag` writes, and of iteration i + 1, which `lead` writes.
  mlir::IRMapping now, next;

  void lead(mlir::Operation *op);
  void lag(mlir::Operation *op);
  /// The value of a loop variable after iteration i.
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
