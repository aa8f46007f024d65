// What passes tell each other of accesses of memory: what is known of one, which instructions do
// it, and which argument a view belongs to.
//
// Attributes are verified where they are attached (AnnotationTable.h), so that a reader meets none,
// or one that fits the operation. Nobody else names them.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::gpu {

/// What is known of a load, store or prefetch of a tile; null if nothing.
AccessAttr accessOf(mlir::Operation *op);
void setAccess(mlir::Operation *op, llvm::ArrayRef<int32_t> order, int64_t vector,
               llvm::ArrayRef<Bounds> bounds = {});

/// The argument that a view is of, as the kernel was written; null if it is none.
ViewOfAttr viewOf(ir::MakeViewOp view);
void setViewOf(ir::MakeViewOp view, int32_t arg, llvm::ArrayRef<int32_t> dims);

} // namespace tile::gpu
