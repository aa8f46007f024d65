// What arithmetic and changes of shape do to facts along axes, as rules on facts alone: the
// analysis asks which operation made a value, these functions do not.
#pragma once

#include "passes/analysis/AxisInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tile::passes::axis {

/// The largest divisor that facts tell.
inline constexpr int64_t kMostDivisible = int64_t(1) << 30;

/// Facts of values of a type of which nothing is known.
AxisInfo unknown(mlir::Type type);

/// All elements are equal: constant along every dimension.
AxisInfo uniform(mlir::Type type, int64_t divisibility);

/// What holds of both: for values that may be either.
AxisInfo meet(const AxisInfo &a, const AxisInfo &b);

/// Each element comes from one of two values, by a condition that is a tile, or null if it is one
/// for all.
AxisInfo select(const AxisInfo &a, const AxisInfo &b, const AxisInfo *condition);

/// Integers in another width.
AxisInfo resized(AxisInfo info, mlir::Type from, mlir::Type to, bool isSigned);

/// Consecutive numbers; `info` has the facts of a tile of that shape of which nothing is known.
AxisInfo arange(int32_t start, int32_t end, AxisInfo info);

/// The answers to a comparison, of that type.
AxisInfo comparison(const AxisInfo &lhs, const AxisInfo &rhs, mlir::arith::CmpIPredicate predicate,
                    mlir::Type type);

/// The same elements in row-major order under other extents.
AxisInfo reshaped(const AxisInfo &from, llvm::ArrayRef<int64_t> fromShape,
                  llvm::ArrayRef<int64_t> toShape);

} // namespace tile::passes::axis
