// The attributes of `tilegpu` that passes write on operations, each with its verifier, by subject.
// The dialect looks an attribute up here and refuses others.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace tile::gpu {

struct Annotation {
  llvm::StringLiteral name;
  /// Is the value, attached to the operation, one that readers understand? Emits an error if not.
  mlir::LogicalResult (*verify)(mlir::Operation *op, mlir::Attribute value);
};

llvm::ArrayRef<Annotation> accessAnnotations();
llvm::ArrayRef<Annotation> dotAnnotations();
llvm::ArrayRef<Annotation> functionAnnotations();
llvm::ArrayRef<Annotation> loopAnnotations();
llvm::ArrayRef<Annotation> variantAnnotations();

} // namespace tile::gpu
