// Products by wgmma whose sums have fewer bits than f32: those of 8-bit floats. A run of K is
// summed from zero in a tile of its own, which is added to the sums in f32 (CUTLASS and others call
// this promotion). Two runs are under way at a time.
#pragma once

#include "passes/staging/StagedOperand.h"

namespace tile::passes {

/// Is the product added up so? Not if it asks for fast accumulation.
bool hasPromotedSums(ir::DotOp dot);

/// Tiles of the result's size that the product by wgmma holds in registers at a time, the result
/// included.
int64_t accumulatorTiles(ir::DotOp dot);

/// The sums of such a product, multiplied and waited for where it stands.
mlir::Value addPromoted(ir::DotOp dot, const StagedOperands &operands);

} // namespace tile::passes
