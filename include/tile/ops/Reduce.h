// Reductions of tensors over any of their dimensions.
//
// Each function comes in two forms: with the output as its last tensor, and returning a new tensor
// of the stream (Stream::tensor).
#pragma once

#include <tile/Reduce.h>
#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// Which dimensions go.
struct Axes {
  /// All of them.
  Axes() = default;
  /// One, or a list: negative ones count from the last. An empty list is none.
  Axes(int axis) : Axes({axis}) {}
  Axes(std::initializer_list<int> axes);
  Axes(std::span<const int> axes);

  bool isAll = true;
  int count = 0;
  int list[kMaxRank] = {};
};

/// y = the sum, mean, largest or smallest of x over `axes`, for every index of the other
/// dimensions; sum of squares: of x * x.
///
/// Shapes: y has x's extents without the reduced ones, or with 1 in their place: both are taken.
/// The new tensor keeps them with 1 if `options` say keep_dims. Any strides. Over no elements a sum
/// is 0, a mean NaN, the largest -infinity, the smallest +infinity (of integers the lowest and
/// highest).
/// Dtypes: x and y floats: sums are kept in f32 (f64 if x or y is f64); largest and smallest of x
/// are exact. x and y both of one integer dtype: sums wrap; no mean. The new tensor has x's dtype.
/// A NaN among the elements makes the result NaN.
/// The order of summation is open, but fixed for given extents and strides.
/// Method: one pass over x; long reductions with few results take a second kernel over partial
/// sums.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: an axis
/// that does not exist or is named twice, extents of y, dtypes, another device, y overlaps x or
/// repeats elements.
void sum(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y,
         Loc loc = Loc::here());
void mean(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y,
          Loc loc = Loc::here());
void reduceMax(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y,
               Loc loc = Loc::here());
void reduceMin(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y,
               Loc loc = Loc::here());
void sumOfSquares(const Stream &stream, const Operand &x, const Axes &axes, const Operand &y,
                  Loc loc = Loc::here());
Tensor sum(const Stream &stream, const Operand &x, const Axes &axes = {},
           const tile::ReduceOptions &options = {}, Loc loc = Loc::here());
Tensor mean(const Stream &stream, const Operand &x, const Axes &axes = {},
            const tile::ReduceOptions &options = {}, Loc loc = Loc::here());
Tensor reduceMax(const Stream &stream, const Operand &x, const Axes &axes = {},
                 const tile::ReduceOptions &options = {}, Loc loc = Loc::here());
Tensor reduceMin(const Stream &stream, const Operand &x, const Axes &axes = {},
                 const tile::ReduceOptions &options = {}, Loc loc = Loc::here());
Tensor sumOfSquares(const Stream &stream, const Operand &x, const Axes &axes = {},
                    const tile::ReduceOptions &options = {}, Loc loc = Loc::here());

/// What broadcasting did to `like`, undone: the sum of x over the dimensions along which a tensor
/// of y's extents was broadcast to x's. The gradient of a broadcast operand. Errors: as for `sum`,
/// and InvalidShape if y does not broadcast to x.
void sumTo(const Stream &stream, const Operand &x, const Operand &y, Loc loc = Loc::here());

} // namespace tile::ops
