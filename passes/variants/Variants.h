// The registry of variants: for each abstract operation the ways to do it, best first, each with a
// predicate that answers "yes" or says in a sentence why not. What `tilec explain` prints comes
// from here.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/target/Target.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace tile::passes {

/// Why a variant does not apply, as a sentence; nothing if it does.
using Refusal = std::optional<std::string>;

/// One way to carry out an operation.
struct Variant {
  gpu::VariantKind kind;
  Refusal (*refuses)(mlir::Operation *op, const ir::Target &target);
  /// What a target must have for the variant to be thought of at all; null: nothing.
  ir::Feature needed = nullptr;
};

/// The predicate of a variant that always applies.
inline Refusal refuseNothing(mlir::Operation *, const ir::Target &) { return std::nullopt; }

/// Variants of an access to global memory, best first; the last one always applies.
llvm::ArrayRef<Variant> copyVariants(mlir::Operation *op);

/// Variants of stores of tiles to views, best first; the last one always applies.
llvm::ArrayRef<Variant> storeVariants();

/// Why threads cannot access several elements at once; nothing if they can.
Refusal refuseVector(mlir::Operation *op, const ir::Target &target);

/// Variants of matrix products, best first; the last one always applies.
llvm::ArrayRef<Variant> dotVariants();

/// The variants of an operation; empty if it has none to choose from.
llvm::ArrayRef<Variant> variantsOf(mlir::Operation *op);

} // namespace tile::passes
