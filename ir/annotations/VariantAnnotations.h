// Which instructions do a load, a store or a dot, and why better ones do not: what SelectVariants
// decides, and what the program demands.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::gpu {

/// `Undecided` before SelectVariants, and for other operations.
LoadVariant loadVariantOf(mlir::Operation *op);
StoreVariant storeVariantOf(mlir::Operation *op);
DotVariant dotVariantOf(mlir::Operation *op);

/// The chosen variant of a load, store or dot in words; empty if none is chosen.
llvm::StringRef variantNameOf(mlir::Operation *op);

/// Chooses a variant, and keeps the refusals.
void setVariant(mlir::Operation *op, LoadVariant kind);
void setVariant(mlir::Operation *op, StoreVariant kind);
void setVariant(mlir::Operation *op, DotVariant kind);

/// Why better variants were refused, as sentences.
llvm::SmallVector<llvm::StringRef> refusalsOf(mlir::Operation *op);
/// Adds a sentence, and keeps the variant.
void addRefusal(mlir::Operation *op, llvm::StringRef sentence);

/// The number of the variant that the program demands of an operation; 0 if it leaves the choice.
uint32_t demandedVariantOf(mlir::Operation *op);
/// The name of a number that can be demanded.
llvm::StringRef demandedVariantName(uint32_t number);

/// Is this variant demanded?
template <class Kind> bool demands(mlir::Operation *op, Kind kind) {
  return demandedVariantOf(op) == static_cast<uint32_t>(kind);
}

} // namespace tile::gpu
