// Which products of a loop may be computed an iteration ahead of the rest of its body: those that depend on what the loop
// loads, and on nothing that it computes. Of attention these are the scores, which the softmax of the iteration before does
// not wait for.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>

namespace tile::passes {

/// The part of a loop's body that can run an iteration ahead.
struct Rotation {
  /// In program order: the products, and what their operands follow from.
  llvm::SetVector<mlir::Operation *> head;
  /// The products' results, which the rest takes.
  llvm::SmallVector<mlir::Value> results;
  /// Of the head, in program order: what the rest needs as well, and computes for itself.
  llvm::SetVector<mlir::Operation *> shared;
};

/// Nothing, with a sentence in *why, if no product of the body can, or if the rest has none to be ahead of.
std::optional<Rotation> rotationOf(mlir::scf::ForOp loop, std::string *why = nullptr);

} // namespace tile::passes
