// Whether a warp of its own may fill the ring of a loop.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace tile::passes {

/// Why no warp can fill the ring of a loop beside those that compute, as a sentence; empty if one can. Before the loop is
/// pipelined, in `stages`.
std::string whyNoProducer(mlir::scf::ForOp loop, int32_t stages);

} // namespace tile::passes
