// Which operations of a kernel decide what is counted of it, and which numbers those follow from.
#pragma once

#include "codegen/report/ScalarCode.h"
#include "llvm/ADT/DenseSet.h"

namespace tile::codegen {

/// Seen through what keeps a number as it is: a tile of one number is that number.
mlir::Value sourceOf(mlir::Value value);

/// Is it a place among the launch's counters, which are 0 before it?
bool isOnCounter(mlir::Value pointer);

/// What an operation on numbers computes; `Unknown` if it is not followed.
Compute computeOf(mlir::Operation *op);

class ScalarSlice {
public:
  ScalarSlice(mlir::func::FuncOp kernel, llvm::function_ref<bool(mlir::Operation *)> matters);

  /// Is something counted in it?
  bool matters(mlir::Operation *op) const { return matters_.contains(op); }
  bool isNeeded(mlir::Value value) const { return needed_.contains(sourceOf(value)); }
  bool isNeeded(mlir::Operation *op) const {
    return llvm::any_of(op->getResults(), [&](mlir::Value v) { return needed_.contains(v); });
  }

private:
  void needControl(mlir::Operation *op);
  void needPlace(mlir::Operation *op);
  void needView(mlir::Value view);
  void need(mlir::ValueRange values);
  void need(mlir::Value value);

  llvm::DenseSet<mlir::Operation *> matters_;
  llvm::DenseSet<mlir::Value> needed_;
};

} // namespace tile::codegen
