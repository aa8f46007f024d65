// The part of a kernel that the warps of one role must execute so that given operations execute:
// these, the loops and branches around them, and everything that they depend on.
#pragma once

#include "base/Refusal.h"
#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tile::passes {

class RoleSlice {
public:
  RoleSlice(llvm::ArrayRef<mlir::Operation *> roots, gpu::RoleKind role);

  /// The operand of a `by_role` that this role takes.
  mlir::Value takenFrom(ir::ByRoleOp number) const {
    return role_ == gpu::RoleKind::Producer ? number.getAll() : number.getOwn();
  }

  bool contains(mlir::Operation *op) const { return ops_.contains(op); }
  /// Is this result of a loop or branch in the slice, and so the loop's variable?
  bool carries(mlir::OpResult result) const { return results_.contains(result); }

  llvm::ArrayRef<mlir::Operation *> operations() const { return ops_.getArrayRef(); }

private:
  void need(mlir::Operation *op);
  void need(mlir::Value value);
  void needResult(mlir::OpResult result);

  gpu::RoleKind role_;
  llvm::SetVector<mlir::Operation *> ops_; ///< in the order of discovery
  llvm::DenseSet<mlir::Value> results_;
  llvm::SmallVector<mlir::Value> open_; ///< values still to be followed
};

/// Why a warp that holds no tiles cannot execute the slice apart from the rest of the kernel, as a
/// sentence; empty if it can. `isOfRole` holds for the operations that the role exists for.
Refusal whyNotApart(const RoleSlice &slice, mlir::Operation *kernel,
                    llvm::function_ref<bool(mlir::Operation *)> isOfRole);

} // namespace tile::passes
