// Tuples of values combined by a region: what reductions and scans share.
#pragma once

#include "codegen/lower/Lowering.h"

namespace tile::codegen {

/// One value of each operand, combined together.
using Tuple = llvm::SmallVector<mlir::Value>;

/// The region with scalars for its arguments, left ones first. If it cannot be lowered, the error
/// was reported and the values are not used.
Tuple combined(Lowering &l, mlir::Block &region, const Tuple &lhs, const Tuple &rhs);

/// `a` where the condition holds, else `b`.
Tuple selected(Lowering &l, mlir::Location loc, mlir::Value condition, const Tuple &a,
               const Tuple &b);

/// The tuple with one NaN in f64 for all. What is computed of two NaN has the bits of one of them, and lanes that combine the same
/// values may do so in other orders: LLVM swaps operands. Narrower floats have one NaN.
Tuple withOneNan(Lowering &l, mlir::Location loc, const Tuple &tuple);

/// The tuple of the lane whose number differs in the bits of `mask`.
Tuple exchanged(Lowering &l, mlir::Location loc, const Tuple &tuple, int32_t mask);

} // namespace tile::codegen
