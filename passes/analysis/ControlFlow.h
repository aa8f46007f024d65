// What passes ask of a function's control flow.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// Refuses, with an error of the user's, a function with branches between blocks. Passes take its
/// first block for the whole body.
mlir::LogicalResult verifyOneBlock(mlir::func::FuncOp function);

} // namespace tile::passes
