// A wgmma that stays in flight across a loop's back edge.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {

/// Does the loop have exactly one dot, which accumulates into a variable of the loop and whose
/// operands come from the ring or from before the loop, so that its wait can move to the next
/// iteration? Valid only before the loop is pipelined.
bool canKeepDotInFlight(mlir::scf::ForOp loop, mlir::Value ring);

/// Moves the wait for that dot to the next iteration, and with it the release of the fill that it
/// reads; the last fill is released after the loop. Returns the release in the body, which follows
/// the wait for the older dot, or null, with nothing changed, if the loop has no such dot. May
/// replace `loop`.
mlir::Operation *keepDotInFlight(mlir::scf::ForOp &loop, mlir::Value ring);

} // namespace tile::passes
