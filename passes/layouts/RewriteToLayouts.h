// Gives each tile of a function the layout that was claimed for it, and each operand the layout
// that its operation needs.
#pragma once

#include "passes/layouts/LayoutClaims.h"

namespace tile::passes {

/// Fails, with an error, where an operation's operands cannot be laid out for its results.
mlir::LogicalResult rewriteToLayouts(mlir::func::FuncOp function, const LayoutClaims &claims);

} // namespace tile::passes
