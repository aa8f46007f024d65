// What some warps of a block must carry out so that certain operations of a kernel are: these, the
// loops and branches around them, and what all of them follow from.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace tile::passes {

/// A part of a kernel, which can be written as a program of its own.
class RoleSlice {
public:
  RoleSlice(llvm::ArrayRef<mlir::Operation *> roots, gpu::RoleKind role);

  /// Which of a number's values the role takes.
  mlir::Value takenFrom(ir::ByRoleOp number) const {
    return role_ == gpu::RoleKind::Producer ? number.getAll() : number.getOwn();
  }

  bool contains(mlir::Operation *op) const { return ops_.contains(op); }
  /// Is a result of a loop or branch, and so the loop's variable, part of it?
  bool carries(mlir::OpResult result) const { return results_.contains(result); }

  llvm::ArrayRef<mlir::Operation *> operations() const { return ops_.getArrayRef(); }

private:
  void need(mlir::Operation *op);
  void need(mlir::Value value);
  void needResult(mlir::OpResult result);

  gpu::RoleKind role_;
  llvm::SetVector<mlir::Operation *> ops_; ///< in the order in which they were found
  llvm::DenseSet<mlir::Value> results_;
  llvm::SmallVector<mlir::Value> open_; ///< what is left to be followed
};

/// Why a warp that holds no tiles cannot carry a slice out beside the rest of a kernel, as a
/// sentence; empty if it can. `isOfRole` names the operations that it is made for.
std::string whyNotApart(const RoleSlice &slice, mlir::Operation *kernel,
                        llvm::function_ref<bool(mlir::Operation *)> isOfRole);

} // namespace tile::passes
