// A product by wgmma that a loop leaves under way from one iteration to the next.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {

/// Lets the one product of a loop, if it adds to a tile that the loop carries and reads the ring, be waited for in the
/// iteration behind its own: then that fill is released, and behind the loop the last one. Returns the release in the
/// body, before which the older product is done; null, with nothing changed, if the loop has no such product. The loop may
/// be built anew.
mlir::Operation *keepDotInFlight(mlir::scf::ForOp &loop, mlir::Value ring);

} // namespace tile::passes
