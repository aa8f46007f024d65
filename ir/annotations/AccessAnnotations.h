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

/// The instructions that do a copy or a dot; `Undecided` before SelectVariants.
VariantKind variantOf(mlir::Operation *op);
/// Why better variants were refused, as sentences.
llvm::SmallVector<llvm::StringRef> refusalsOf(mlir::Operation *op);
/// The variant that the program demands of an operation; `Undecided` if it leaves the choice.
VariantKind demandedVariantOf(mlir::Operation *op);
/// Chooses a variant; adds a sentence to the refusals. Each keeps what the other has written.
void setVariant(mlir::Operation *op, VariantKind kind);
void addRefusal(mlir::Operation *op, llvm::StringRef sentence);

/// The argument that a view is of, as the kernel was written; null if it is none.
ViewOfAttr viewOf(ir::MakeViewOp view);
void setViewOf(ir::MakeViewOp view, int32_t arg, llvm::ArrayRef<int32_t> dims);

} // namespace tile::gpu
