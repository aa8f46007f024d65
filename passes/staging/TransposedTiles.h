// Tiles that are taken with rows for columns: one tile in shared memory serves both ways.
#pragma once

#include "ir/tile/TileDialect.h"

namespace tile::passes {

/// Do two loads read the same elements, one with rows for columns? Their views are each other's
/// transpose. That nothing changes the memory between the two is for the caller to know.
bool isTransposeOf(ir::ViewLoadOp load, ir::ViewLoadOp other);

/// The matrix that an operand is with rows for columns, but for its layout; null if it is none.
mlir::Value transposedIn(mlir::Value operand);

/// A load whose tile an operand is, and whether with rows for columns.
struct OperandLoad {
  ir::ViewLoadOp load;
  bool isTransposed = false;
};
/// Null if the operand is computed; see loadBehind.
OperandLoad loadEitherWay(mlir::Value operand);

} // namespace tile::passes
