// Which layout the tiles of a function ask for: what an operation wants of its own (accesses,
// products), and what follows from that through operations that keep data in place.
#pragma once

#include "ir/LayoutOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::passes {

inline bool isTile(mlir::Value value) { return mlir::isa<mlir::RankedTensorType>(value.getType()); }

/// The claims on the tiles of a function. Tiles of constants, aranges, splats and what is made of
/// them alone have none.
class LayoutClaims {
public:
  explicit LayoutClaims(mlir::func::FuncOp function);

  /// Goes round the function until no claim changes; an error for operations that nothing is known
  /// of.
  mlir::LogicalResult decide();

  gpu::LayoutClaim of(mlir::Value value) const { return claims_.lookup(value); }
  /// The claimed layout, else the default one.
  gpu::LayoutAttr layoutOrDefault(mlir::Value value) const;
  /// What callers and callees agree on for arguments and results, without asking: the default
  /// layout.
  gpu::LayoutAttr boundaryLayout(mlir::Value value) const;

  int64_t numWarps() const { return warps_; }

private:
  mlir::LogicalResult verifyKnown();
  mlir::LogicalResult verifyDots();

  void claimFragmentLoads();
  void claim(mlir::Value value, gpu::LayoutClaim next);
  void claimVariable(llvm::ArrayRef<mlir::Value> targets, llvm::ArrayRef<mlir::Value> sources);
  void claimResults(mlir::Operation *op, const gpu::LayoutClaim &source);
  gpu::LayoutClaim boundaryClaim(mlir::Value value) const;
  gpu::LayoutClaim strongest(mlir::ValueRange values) const;

  void visit(mlir::Operation *op);
  void visitFor(mlir::scf::ForOp loop);
  void visitWhile(mlir::scf::WhileOp loop);
  void visitIf(mlir::scf::IfOp op);

  mlir::func::FuncOp function_;
  int64_t warps_;
  bool changed_ = false;
  llvm::DenseMap<mlir::Value, gpu::LayoutClaim> claims_;
};

} // namespace tile::passes
