// The rules that ops check before they launch, one function a rule. Each throws a tile::Error at the
// caller's line that names the op, the argument, the values and the remedy.
#pragma once

#include <tile/ops/Operand.h>

#include <initializer_list>

namespace tile::ops {

/// An argument under the name the op's manual gives it.
struct Named {
  const char *name;
  const Operand &operand;
};

class Arguments {
public:
  Arguments(const char *op, Loc loc) : op_(op), loc_(loc) {}

  void dtypeIn(Named arg, std::initializer_list<DType> allowed) const;
  void sameDtype(Named first, Named second) const;
  void rankIs(Named arg, int rank) const;
  void rankAtLeast(Named arg, int rank) const;
  void sameExtents(Named first, Named second) const;
  /// NumPy's rule, in one direction.
  void broadcastsTo(Named input, Named output) const;
  /// extent(firstDim) of one is extent(secondDim) of the other; negative ones count from the last.
  void equalExtent(Named first, int firstDim, Named second, int secondDim) const;
  /// Rank 1 or more.
  void hasRows(Named arg) const;
  /// `dim` counted from the first dimension; negative ones count from the last.
  int dimension(Named arg, int dim) const;
  /// Of any rank.
  void oneElement(Named arg) const;
  /// One element a row of x: x's extents without the last.
  void onePerRow(Named arg, Named x) const;
  /// Rank 1, with one element a column of x.
  void onePerColumn(Named arg, Named x) const;
  /// extent(firstDim) of one is a multiple of extent(secondDim) of the other; of 0 only 0 is.
  void multipleOf(Named first, int firstDim, Named second, int secondDim) const;
  /// least <= extent(dim) <= most.
  void extentWithin(Named arg, int dim, int64_t least, int64_t most) const;
  /// All on one device, as far as it is known.
  void oneDevice(std::initializer_list<Named> args) const;
  /// No element of `output` has two indices, as with stride 0.
  void elementsDistinct(Named output) const;
  /// An integer that an element of `arg`, which holds integers, can hold.
  void fits(const char *what, double value, Named arg) const;
  /// No byte of `output` belongs to `input`. Both may lie interlaced, as columns of one matrix, if their strides are
  /// equal.
  void disjoint(Named output, Named input) const;
  /// As `disjoint`, but both may be one tensor with equal strides.
  void disjointOrSame(Named output, Named input) const;
  /// Of those that are given: each output has distinct elements, and shares none with the inputs and the other outputs.
  void outputsApart(std::initializer_list<Named> outputs,
                    std::initializer_list<Named> inputs) const;

  /// Throws: the two do not broadcast to common extents.
  [[noreturn]] void refuseBroadcast(Named first, Named second) const;
  [[noreturn]] void fail(ErrorCode code, const std::string &message) const;

private:
  const char *op_;
  Loc loc_;
};

} // namespace tile::ops
