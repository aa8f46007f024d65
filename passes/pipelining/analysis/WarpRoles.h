// Decides whether a producer warp may fill the rings of a loop.
#pragma once

#include "base/Refusal.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {

/// Why no producer warp can fill the rings of a loop, as a sentence; empty if one can. Valid only
/// before the loop is pipelined.
Refusal whyNoProducer(mlir::scf::ForOp loop, int32_t stages);

/// Does one of the kernel's loops have a producer warp? Valid once loops are scheduled.
bool hasProducer(mlir::func::FuncOp kernel);

} // namespace tile::passes
