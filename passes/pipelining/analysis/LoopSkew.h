// Which products of a loop may lag an iteration behind the rest of its body: those that take what
// the iteration computes, while others depend on what it loads alone. Of attention the weights'
// product with the values lags: while it is under way, the next scores come and their softmax is
// computed.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>

namespace tile::passes {

/// The two parts of a loop's body. Iteration i of the loop that is made of them leads with the
/// first part of iteration i + 1 and lags with the second of iteration i. An operation may be in
/// both. All lists are in program order.
struct LoopSkew {
  /// What runs an iteration ahead.
  llvm::SetVector<mlir::Operation *> leading;
  /// The last product that depends on loads alone. It is in `leading`.
  mlir::Operation *lastLeadingDot = nullptr;

  /// What stays in its iteration: products that take what was computed, what follows from those,
  /// steps on rings, and what all of these follow from.
  llvm::SetVector<mlir::Operation *> lagging;
  /// Of the lagging, the products and what follows from them.
  llvm::SetVector<mlir::Operation *> late;

  /// What the leading part computes for the lagging one, or for the iteration behind: carried round
  /// the loop.
  llvm::SetVector<mlir::Value> crossing;
  /// The loop's variables that the lagging part takes.
  llvm::SetVector<mlir::BlockArgument> variables;
};

/// Does an operation fill this ring, or hold one that does?
bool fillsRing(mlir::Operation *op, mlir::Value ring);

/// Nothing, with a sentence in *why, if no products of the body can lag behind others.
std::optional<LoopSkew> skewOf(mlir::scf::ForOp loop, std::string *why = nullptr);

} // namespace tile::passes
