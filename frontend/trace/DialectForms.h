// Types, locations and attributes of a trace as MLIR has them.
#pragma once

#include "frontend/trace/Graph.h"

#include <mlir/IR/Builders.h>

namespace tile::frontend {

class DialectForms {
public:
  explicit DialectForms(mlir::MLIRContext &context) : builder_(&context) {}

  mlir::Type elementType(DType dtype) const;
  mlir::Type typeOf(const TileType &type) const;
  mlir::Location locationOf(const Loc &loc) const;
  mlir::Attribute attributeOf(const Attribute &attribute) const;

private:
  mutable mlir::Builder builder_; // its functions are not const, and change nothing
};

} // namespace tile::frontend
