// Whether the body of a loop has what its plan relies on.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// A plan with tiles in ping-pong needs the arrival of PingPongLoops in the loop's body, with the
/// step in which it takes effect and the trip count of a tile, until LowerRings has read them.
/// Emits an error if a loop lacks it. Asked beside verifyRings.
mlir::LogicalResult verifyPlans(mlir::func::FuncOp function);

} // namespace tile::passes
