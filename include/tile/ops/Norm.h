// Layer normalisation and root-mean-square normalisation of rows, and their gradients.
//
// A row is the last dimension, of any length; n is its length, r counts rows, j the elements of
// one. Arguments said to be optional are left out as `Operand()`.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// layernorm: y[r, j] = (x[r, j] - mean[r]) * rstd[r] * weight[j] + bias[j], where
/// mean[r] = sum over j of x[r, j] / n and
/// rstd[r] = 1 / sqrt(sum over j of (x[r, j] - mean[r])^2 / n + epsilon).
/// rmsnorm: y[r, j] = x[r, j] * rstd[r] * weight[j], where
/// rstd[r] = 1 / sqrt(sum over j of x[r, j]^2 / n + epsilon).
///
/// Shapes: y has x's extents, of rank 1 or more; weight and bias (optional: 1 and 0) are vectors of
/// n; mean and rstd (optional outputs, for the gradients) have x's extents without the last. Any
/// strides; leading dimensions that do not merge into one are copied. Empty tensors are fine; mean
/// and rstd of rows of no elements are NaN.
/// Dtypes: x, y, weight and bias each f16, bf16 or f32, mean and rstd f32; everything between is
/// computed in f32. The new tensor has x's dtype.
/// A row that contains NaN or an infinity becomes NaN (rmsnorm: an infinity becomes NaN, the finite
/// ones beside it 0).
/// Method: a row of up to 8192 elements is read once and stays in registers; longer rows are read
/// twice. A few rows have one program per 2048 elements, so that they spread over the device. If
/// there are more rows than the device processes at once (four such programs per multiprocessor,
/// two for rows beyond 2048 elements), all programs take equally many rows, and load weight and
/// bias once for them: memory moves these once, the caches once per program. The variance comes
/// from x - mean (in longer rows by Welford's method in each column of a tile, then combined), so
/// that a large mean costs no digits.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: extents
/// that do not fit x, a dtype that is not in the list, tensors of different devices, an output that
/// overlaps another tensor or repeats elements, a negative epsilon.
void layernorm(const Stream &stream, const Operand &x, const Operand &weight, const Operand &bias,
               double epsilon, const Operand &y, const Operand &mean = {}, const Operand &rstd = {},
               Loc loc = Loc::here());
Tensor layernorm(const Stream &stream, const Operand &x, const Operand &weight = {},
                 const Operand &bias = {}, double epsilon = 1e-5, Loc loc = Loc::here());
void rmsnorm(const Stream &stream, const Operand &x, const Operand &weight, double epsilon,
             const Operand &y, const Operand &rstd = {}, Loc loc = Loc::here());
Tensor rmsnorm(const Stream &stream, const Operand &x, const Operand &weight = {},
               double epsilon = 1e-5, Loc loc = Loc::here());

/// The same of x + residual, in one kernel: sum = x + residual, rounded to sum's dtype, and y the
/// norm of the sum as it was rounded. sum may be x or residual itself, of the same strides; else
/// the rules of layernorm and rmsnorm. Rows of up to 8192 elements: two reads and two writes of
/// each element; longer ones read the sum once more. Gradients: those of layernorm and rmsnorm with
/// `sum` for x give dsum, which is the gradient of x and of residual alike.
void addLayernorm(const Stream &stream, const Operand &x, const Operand &residual,
                  const Operand &weight, const Operand &bias, double epsilon, const Operand &sum,
                  const Operand &y, const Operand &mean = {}, const Operand &rstd = {},
                  Loc loc = Loc::here());
void addRmsnorm(const Stream &stream, const Operand &x, const Operand &residual,
                const Operand &weight, double epsilon, const Operand &sum, const Operand &y,
                const Operand &rstd = {}, Loc loc = Loc::here());

/// Gradients: from dy, that of y, and x, mean and rstd as the forward function took and gave them.
/// With h[r, j] = (x[r, j] - mean[r]) * rstd[r] (rmsnorm: x[r, j] * rstd[r]) and g[r, j] = dy[r,
/// j] * weight[j],
///   dx[r, j] = rstd[r] * (g[r, j] - mean over k of g[r, k]
///                         - h[r, j] * mean over k of g[r, k] * h[r, k])
/// (rmsnorm: without the first mean), dweight[j] = sum over r of dy[r, j] * h[r, j], dbias[j] = sum
/// over r of dy[r, j].
///
/// Shapes: dy and dx have x's extents; weight (optional), dweight and dbias (optional outputs) are
/// vectors of n; mean and rstd have x's extents without the last. Strides, dtypes and NaN as above;
/// dweight and dbias are f16, bf16 or f32. Over no rows dweight and dbias are 0.
/// Method: rows of up to 8192 elements are read once for all gradients, by one program per 4096
/// elements and at most one per multiprocessor, which loads weight once (for rows beyond 4096
/// elements once per row). Each sums dweight and dbias over its rows into a temporary tensor of the
/// stream, whose rows are then added up: no atomics, so that equal calls on equal devices give
/// equal bits. Longer rows are read twice for dx and once more for dweight and dbias.
///
/// Errors: as above.
void layernormBackward(const Stream &stream, const Operand &dy, const Operand &x,
                       const Operand &weight, const Operand &mean, const Operand &rstd,
                       const Operand &dx, const Operand &dweight = {}, const Operand &dbias = {},
                       Loc loc = Loc::here());
void rmsnormBackward(const Stream &stream, const Operand &dy, const Operand &x,
                     const Operand &weight, const Operand &rstd, const Operand &dx,
                     const Operand &dweight = {}, Loc loc = Loc::here());

} // namespace tile::ops
