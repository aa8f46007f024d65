// Functions that kernels call (`tile.callable`): what they may be.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::ir {

/// The callable behind a call; null if the call is of another function.
mlir::func::FuncOp callableOf(mlir::func::CallOp call);

/// Checks a function with `tile.callable`: it has a body, takes and returns tiles and scalars,
/// accesses no global memory, and stands before its callers, so that none calls itself.
mlir::LogicalResult verifyCallable(mlir::Operation *op);

} // namespace tile::ir
