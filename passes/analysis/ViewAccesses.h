// What passes ask of a function's accesses of views.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// Refuses, with an error, a kernel's load or store of a view without `tilegpu.access`: LowerViews
/// has not run.
mlir::LogicalResult verifyAccessesAreKnown(mlir::func::FuncOp function);

} // namespace tile::passes
