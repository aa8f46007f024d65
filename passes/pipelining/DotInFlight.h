// A wgmma that a loop leaves in flight from one iteration to the next.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {

/// Has the loop one dot, which adds to a tile that the loop carries and reads the ring, so that it
/// may be waited for an iteration later? Before the loop is pipelined.
bool canKeepDotInFlight(mlir::scf::ForOp loop, mlir::Value ring);

/// Has that dot waited for in the iteration after its own: its fill is released there, and the last
/// one after the loop. Returns the release in the body, before which the older dot is done; null,
/// with nothing changed, if the loop has no such dot. The loop may be rebuilt.
mlir::Operation *keepDotInFlight(mlir::scf::ForOp &loop, mlir::Value ring);

} // namespace tile::passes
