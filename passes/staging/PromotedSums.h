// wgmmas whose accumulators have fewer bits than f32: those of 8-bit floats. Each run of K is
// accumulated from zero in a tile of its own, which is added to the accumulator in f32 (CUTLASS and
// others call this promotion). Two runs are in flight at a time.
#pragma once

#include "passes/staging/StagedOperand.h"

namespace tile::passes {

/// Does the dot need promotion? Not if it asks for fast accumulation.
bool hasPromotedSums(ir::DotOp dot);

/// The number of tiles of the result's size that the dot holds in registers at a time, the result
/// included.
int64_t accumulatorTiles(ir::DotOp dot);

/// Issues the runs of such a dot, and waits for them, at the dot. Returns the sum.
mlir::Value addPromoted(ir::DotOp dot, const StagedOperands &operands);

} // namespace tile::passes
