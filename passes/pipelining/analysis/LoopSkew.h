// Divides the body of a loop into a leading and a lagging part, for SkewLoops.
#pragma once

#include "base/Refusal.h"
#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace tile::passes {

/// The two parts of a body. The skewed loop executes the leading part of iteration i + 1 and the
/// lagging part of iteration i; an operation may be in both. All lists are in program order.
struct LoopSkew {
  llvm::SetVector<mlir::Operation *> leading;
  /// The last dot that depends on loads alone; in `leading`.
  mlir::Operation *lastLeadingDot = nullptr;

  /// The lagging dots, what follows from them, the steps of rings that they read, and what all of
  /// these need.
  llvm::SetVector<mlir::Operation *> lagging;
  /// The lagging dots and what follows from them; a subset of `lagging`.
  llvm::SetVector<mlir::Operation *> late;

  /// Values that the leading part computes for the lagging one or for the next iteration: variables
  /// of the skewed loop.
  llvm::SetVector<mlir::Value> crossing;
  /// The variables of the original loop that the lagging part takes.
  llvm::SetVector<mlir::BlockArgument> variables;
};

/// Does the operation, or one inside it, fill this ring?
bool fillsRing(mlir::Operation *op, mlir::Value ring);

/// Nothing, with a sentence in *why, if no dot can lag.
std::optional<LoopSkew> skewOf(mlir::scf::ForOp loop, Refusal *why = nullptr);

} // namespace tile::passes
