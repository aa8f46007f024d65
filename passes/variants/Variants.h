// The registry of variants: for each abstract operation the ways to do it, best first, each with a
// predicate that answers "yes" or says in a sentence why not. What `tilec explain` prints comes
// from here.
#pragma once

#include "base/Refusal.h"
#include "ir/gpu/TileGpuDialect.h"
#include "ir/target/Target.h"
#include "mlir/IR/Operation.h"

namespace tile::passes {

/// One way to do an operation; the kinds are LoadVariant, StoreVariant and DotVariant.
template <class Kind> struct Variant {
  Kind kind;
  Refusal (*refuses)(mlir::Operation *op, const ir::Target &target);
  /// What a target must have for the variant to be thought of at all; null: nothing.
  ir::Feature needed = nullptr;
};

/// The predicate of a variant that always applies.
inline Refusal refuseNothing(mlir::Operation *, const ir::Target &) { return {}; }

/// Why threads cannot access several elements at once; nothing if they can.
Refusal refuseVector(mlir::Operation *op, const ir::Target &target);

// The variants of an operation, best first; the last one always applies.
llvm::ArrayRef<Variant<gpu::LoadVariant>> loadVariants(mlir::Operation *load);
llvm::ArrayRef<Variant<gpu::StoreVariant>> storeVariants(mlir::Operation *store);
llvm::ArrayRef<Variant<gpu::DotVariant>> dotVariants();

} // namespace tile::passes
