// Which loads of a loop may be issued iterations before the one that needs them: products of the
// body depend on them, the loop alone decides where they read, and nothing that it does can change
// what is there.
#pragma once

#include "base/Refusal.h"
#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace tile::passes {

/// The load whose tile a product's operand is, but for its layout and dimensions of extent 1; null
/// if it is computed.
ir::ViewLoadOp loadBehind(mlir::Value operand);

/// What an operation takes: its operands, and what its regions take from outside.
llvm::SmallVector<mlir::Value> takenBy(mlir::Operation *op);

/// Does a product take the tile of this load as an operand, as it is or with something computed
/// from each element?
bool feedsDot(ir::ViewLoadOp load);
/// The same of any tile.
bool feedsDot(mlir::Value tile);

/// The operands of products that a tile becomes so.
llvm::SmallVector<mlir::OpOperand *> dotsFedBy(mlir::Value tile);

/// Why a load that feeds a product cannot be issued before its iteration, as a sentence; nothing if
/// it can.
Refusal whyNotAhead(ir::ViewLoadOp load);

/// What must be computed again to know in an earlier iteration what some values will be in a later
/// one.
struct AheadSlice {
  /// Operations of the body, in program order, that the values follow from.
  llvm::SetVector<mlir::Operation *> ops;
  /// Variables of the loop that the values depend on.
  llvm::SetVector<mlir::BlockArgument> carried;
  /// Operations of the body, in program order, that the next values of `carried` follow from.
  llvm::SetVector<mlir::Operation *> steps;

  /// Whether `ops` may be carried out where no iteration follows: without reads of memory, or
  /// divisions.
  bool isSpeculatable() const;
};

/// The slice of values in the body of a loop; nothing, with a sentence in *why, if they follow from
/// more than scalars, constants and memory that the loop does not write.
std::optional<AheadSlice> aheadSlice(mlir::ValueRange values, mlir::scf::ForOp loop,
                                     Refusal *why = nullptr);

/// The operations that begin to fill the rings whose fills the iterations of a loop number: none if
/// its loads stay, one a ring.
llvm::SmallVector<gpu::ProducerAcquireOp> ringsOf(mlir::scf::ForOp loop);

} // namespace tile::passes
