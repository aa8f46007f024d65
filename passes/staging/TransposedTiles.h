// Transposed tiles: one tile in shared memory serves dots that take it either way.
#pragma once

#include "ir/tile/TileDialect.h"

namespace tile::passes {

/// Do two loads read the same elements, one transposed? Their views are each other's transpose. The
/// caller knows that nothing writes the memory between the two.
bool isTransposeOf(ir::ViewLoadOp load, ir::ViewLoadOp other);

/// The matrix that an operand is the transpose of, except for its layout; null if there is none.
mlir::Value transposedIn(mlir::Value operand);

/// The load that an operand comes from, and whether the operand is transposed.
struct OperandLoad {
  ir::ViewLoadOp load;
  bool isTransposed = false;
};
/// Null if the operand is computed; see loadBehind.
OperandLoad loadEitherWay(mlir::Value operand);

} // namespace tile::passes
