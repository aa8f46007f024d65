// Whether a warp of its own may fill the ring of a loop.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace tile::passes {

/// Why no warp can fill the ring of a loop beside those that compute, as a sentence; empty if one
/// can. Before the loop is pipelined, in `stages`.
std::string whyNoProducer(mlir::scf::ForOp loop, int32_t stages);

/// Does a warp of its own fill the ring of one of a kernel's loops? Once loops are scheduled.
bool hasProducer(mlir::func::FuncOp kernel);

} // namespace tile::passes
