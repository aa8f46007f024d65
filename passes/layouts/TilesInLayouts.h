// Tiles in the layouts that are needed: where they have another they are converted, and where they
// have none, since they are made of constants, aranges and splats, they are made anew beside the
// original.
#pragma once

#include "passes/layouts/LayoutClaims.h"
#include "mlir/IR/Builders.h"

namespace tile::passes {

class TilesInLayouts {
public:
  TilesInLayouts(mlir::func::FuncOp function, const LayoutClaims &claims)
      : claims_(claims), builder_(function) {}

  /// Gives a value its layout, where it is made.
  void setLayout(mlir::Value value, gpu::LayoutAttr layout);
  /// Makes the operand be there in a layout.
  void setOperand(mlir::OpOperand &operand, gpu::LayoutAttr layout);
  /// The layout a tile operand needs for results in `layout`; its own if it may lie anyhow, null if
  /// there is none.
  gpu::LayoutAttr neededLayout(mlir::OpOperand &operand, gpu::LayoutAttr layout) const;
  /// Erases the originals of what was made anew.
  void eraseUnlaid(llvm::ArrayRef<mlir::Operation *> ops);

private:
  mlir::Value inLayout(mlir::Value value, gpu::LayoutAttr layout);
  mlir::Value convert(mlir::Value value, gpu::LayoutAttr layout);
  mlir::Value remake(mlir::Value value, gpu::LayoutAttr layout);

  const LayoutClaims &claims_;
  mlir::OpBuilder builder_;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> inLayouts_;
};

} // namespace tile::passes
