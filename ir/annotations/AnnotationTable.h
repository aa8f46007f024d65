// The attributes of `tilegpu` that passes write on operations, each with its verifier, by subject.
// The dialect looks attributes up here and refuses others.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace tile::gpu {

struct Annotation {
  llvm::StringLiteral name;
  /// Emits an error if readers would not understand the value on this operation.
  mlir::LogicalResult (*verify)(mlir::Operation *op, mlir::Attribute value);
};

llvm::ArrayRef<Annotation> accessAnnotations();
llvm::ArrayRef<Annotation> dotAnnotations();
llvm::ArrayRef<Annotation> functionAnnotations();
llvm::ArrayRef<Annotation> loopAnnotations();

} // namespace tile::gpu
