// The loads of a loop's body that dots depend on, as operands of one ring: who reads each of them,
// and how it gets to shared memory.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Layout.h"
#include "ir/tile/TileDialect.h"
#include "passes/staging/StagedOperand.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace tile::passes {

/// A dot's operand that comes from a load, possibly transposed.
struct LoopPartUse {
  mlir::OpOperand *operand;
  bool isTransposed;
};

/// One load.
struct LoopOperand {
  /// The tile's shape as dots take it, without the view's dimensions of extent 1.
  layout::Shape shape;
  /// The layout in registers if the load goes through them.
  layout::Layout loaded;
  /// Uses by dots of the body.
  llvm::SmallVector<LoopPartUse> uses;
  /// Changes of layout for other users, such as what operands are computed from.
  llvm::SmallVector<gpu::ConvertLayoutOp> changes;
  llvm::SmallVector<layout::Layout> readers;
  gpu::SmemType memory;
  /// `Tma`, `CpAsync`, or else through registers.
  gpu::LoadVariant transport = gpu::LoadVariant::Vector;

  bool isAsync() const { return transport != gpu::LoadVariant::Vector; }
};

using LoopOperands = llvm::MapVector<ir::ViewLoadOp, LoopOperand>;

/// The loads that may run ahead. Of two that are each other's transpose only the first is listed,
/// with the users of both. Emits an error if the program demands a kind of copy that cannot write
/// the memory that the readers need.
mlir::FailureOr<LoopOperands> partsOf(mlir::scf::ForOp loop);

} // namespace tile::passes
