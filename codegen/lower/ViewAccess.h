// Addresses and bounds checks of one access of a view.
#pragma once

#include "codegen/lower/GlobalAccess.h"
#include "ir/gpu/TileGpuDialect.h"

namespace tile::codegen {

/// What depends on the thread is computed once; a register adds constants, except along dimensions whose stride is
/// known at run time only.
class ViewAccess {
public:
  /// `access` carries `tilegpu.access`; `layout` says which thread moves which elements, of `elementBytes` each.
  ViewAccess(Lowering &l, mlir::Operation *access, mlir::Value view, mlir::ValueRange offsets,
             const layout::Layout &layout, int64_t elementBytes);

  /// Elements a vector access moves.
  int64_t vectorElements() const { return vectorSize_; }
  /// Where the vector that starts at a register lies, and when it may be touched.
  GlobalPlace place(int32_t reg);

private:
  mlir::Value extent(int dim);
  bool isUnit(int dim);
  int64_t stepOf(int dim, int32_t reg);
  mlir::Value isBelow(mlir::Value position, mlir::Value extent);
  mlir::Value inBounds(int dim, int64_t step);
  mlir::Value elementPointer(mlir::Value base, llvm::ArrayRef<mlir::Value> at);
  mlir::Value widen(mlir::Value value, mlir::Type type);
  mlir::Value advance(mlir::Value pointer, mlir::Value elements);
  mlir::Value rowPointer(llvm::ArrayRef<int64_t> steps);

  Lowering &l_;
  mlir::Location loc_;
  ir::MakeViewOp view_;
  layout::Layout layout_;
  int64_t bytes_, vectorSize_ = 1;
  llvm::SmallVector<mlir::Value> positions_;
  llvm::SmallVector<gpu::Bounds> checks_;
  mlir::Value wholeTile_, origin_;
  std::map<std::pair<int, int64_t>, mlir::Value> boundsKnown_;
  std::map<llvm::SmallVector<int64_t>, mlir::Value> rowPointers_;
};

} // namespace tile::codegen
