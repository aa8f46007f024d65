// What is known about the integers and pointers of a tile: runs of consecutive values, runs of
// equal values, and powers of two that divide them. Vector widths of memory accesses follow from
// it.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tile::passes {

/// Facts along one dimension of a tile.
struct AxisFacts {
  /// Values come in aligned runs of this length, each one more than the one before.
  int64_t contiguity = 1;
  /// Values come in aligned runs of this length in which all are equal.
  int64_t constancy = 1;
  /// Largest known power of two that divides the first value of each run of `contiguity` values.
  /// For pointers: of the address in bytes.
  int64_t divisibility = 1;

  bool operator==(const AxisFacts &) const = default;
};

/// Facts of a value, one a dimension; a scalar has one entry.
struct AxisInfo {
  llvm::SmallVector<AxisFacts, 2> dims;

  const AxisFacts &operator[](size_t dim) const { return dims[dim]; }
  AxisFacts &operator[](size_t dim) { return dims[dim]; }
  bool operator==(const AxisInfo &) const = default;
};

/// The facts of the values of one function, found on demand. Rewriting the function makes the
/// results stale.
class AxisInfoAnalysis {
public:
  /// Facts of an integer or pointer, scalar or tile.
  AxisInfo of(mlir::Value value);

  /// The largest known power of two (at most 2^30) that divides a scalar integer or the bytes of a
  /// scalar pointer.
  int64_t divisibilityOf(mlir::Value scalar) { return of(scalar)[0].divisibility; }

private:
  AxisInfo compute(mlir::Value value);
  // By groups of operations; nothing if the operation is not of the group.
  std::optional<AxisInfo> ofSource(mlir::Operation *op, mlir::Type type);
  std::optional<AxisInfo> ofArithmetic(mlir::Operation *op, mlir::Type type);
  std::optional<AxisInfo> ofChoice(mlir::Operation *op, mlir::Type type);
  std::optional<AxisInfo> ofShape(mlir::Operation *op, mlir::Type type);
  AxisInfo ofBlockArgument(mlir::BlockArgument argument);
  AxisInfo ofCarried(mlir::Value argument, mlir::Value init, mlir::Value yielded);
  AxisInfo ofAdd(mlir::Value lhs, mlir::Value rhs, int64_t rhsScale, bool isSubtraction);
  AxisInfo ofMultiply(mlir::Value lhs, mlir::Value rhs);

  llvm::DenseMap<mlir::Value, AxisInfo> known_;
  llvm::DenseMap<mlir::Value, AxisInfo>
      assumed_; ///< of loop-carried values, while a loop is being looked at
};

/// The largest power of two that divides a number; 2^30 for zero.
int64_t powerOfTwoDivisor(int64_t value);

} // namespace tile::passes
