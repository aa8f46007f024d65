// The loads of a loop's body that products depend on, as parts of one ring: who reads each of them,
// and how it gets to shared memory.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Layout.h"
#include "ir/tile/TileDialect.h"
#include "passes/staging/StagedOperand.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace tile::passes {

/// A product's operand that a load brings, as the tile is or with rows for columns.
struct LoopPartUse {
  mlir::OpOperand *operand;
  bool isTransposed;
};

/// One load.
struct LoopOperand {
  /// The tile's as products take it: without the view's dimensions of extent 1.
  layout::Shape shape;
  /// Where its elements are in registers if the load puts them there.
  layout::Layout loaded;
  /// Those by products of the body.
  llvm::SmallVector<LoopPartUse> uses;
  /// Changes of its layout for other users: what operands are computed from.
  llvm::SmallVector<gpu::ConvertLayoutOp> changes;
  llvm::SmallVector<layout::Layout> readers;
  gpu::SmemType memory;
  /// How the tile gets there: by the copy engine, by asynchronous copies of threads, or else
  /// through registers.
  gpu::VariantKind transport = gpu::VariantKind::Vector;

  bool isAsync() const { return transport != gpu::VariantKind::Vector; }
};

using LoopOperands = llvm::MapVector<ir::ViewLoadOp, LoopOperand>;

/// Those that may run ahead. Of loads that are each other's transpose the first is a part, which
/// the users of both read. An error where the program demands a way to copy that memory as the
/// readers need it refuses.
mlir::FailureOr<LoopOperands> partsOf(mlir::scf::ForOp loop);

} // namespace tile::passes
