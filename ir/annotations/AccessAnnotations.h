// The protocol between passes on memory accesses: what is known about one, how it is implemented,
// and which argument a view is made of. No other file names these attributes. Each is verified
// where it is attached (AnnotationTable.h), so a reader finds either none or one that fits the
// operation.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::gpu {

/// What is known about a load, store or prefetch of a tile; null if nothing is.
AccessAttr accessOf(mlir::Operation *op);
void setAccess(mlir::Operation *op, llvm::ArrayRef<int32_t> order, int64_t vector,
               llvm::ArrayRef<Bounds> bounds = {});

/// How a copy or a dot is implemented; `Undecided` before SelectVariants.
VariantKind variantOf(mlir::Operation *op);
llvm::SmallVector<llvm::StringRef> refusalsOf(mlir::Operation *op);
/// The variant that the program demands for an operation; `Undecided` if it leaves the choice.
VariantKind demandedVariantOf(mlir::Operation *op);
/// Sets the variant, or adds a sentence to the refusals; each keeps what the other has written.
void setVariant(mlir::Operation *op, VariantKind kind);
void addRefusal(mlir::Operation *op, llvm::StringRef sentence);

/// The argument, of the kernel as it was written, that a view is made of; null if there is none.
ViewOfAttr viewOf(ir::MakeViewOp view);
void setViewOf(ir::MakeViewOp view, int32_t arg, llvm::ArrayRef<int32_t> dims);

} // namespace tile::gpu
