// Softmax and its logarithm along a dimension, and their gradients.
//
// A row is what lies along dimension `dim`, the last unless another is named; negative ones count
// from the last. r counts rows, j and k the elements of one. Each function comes in two forms: with
// the output as its last tensor, and returning a new tensor of the stream.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// softmax: y[r, j] = exp(x[r, j] - m) / sum over k of exp(x[r, k] - m), where m is the largest
/// x[r, k].
/// logSoftmax: y[r, j] = x[r, j] - m - log(sum over k of exp(x[r, k] - m)).
///
/// Shapes: x and y have equal extents, of rank 1 or more; rows of any length. Any strides; the
/// other dimensions, if they do not merge into one, are copied. Empty tensors are fine. y may be x
/// itself, with the same strides.
/// Dtypes: x and y each f16, bf16, f32 or f64; everything between is computed in f32, in f64 if x
/// or y is f64. The new tensor has x's dtype.
/// A row that contains NaN or +infinity, or only -infinities, becomes NaN; other elements that are
/// -infinity become 0 (logSoftmax: stay -infinity).
/// Method: a row of up to 8192 elements is read once and stays in registers; longer ones, and those
/// of more than 1024 (f16 and
/// bf16: 512) that lie across memory, are read twice, with the running maximum and sum of an online
/// softmax in the first pass.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: extents
/// differ, a dimension that does not exist, a dtype that is not in the list, tensors of different
/// devices, y overlaps x in another way or repeats elements.
void softmax(const Stream &stream, const Operand &x, const Operand &y, int dim = -1,
             Loc loc = Loc::here());
Tensor softmax(const Stream &stream, const Operand &x, int dim = -1, Loc loc = Loc::here());
void logSoftmax(const Stream &stream, const Operand &x, const Operand &y, int dim = -1,
                Loc loc = Loc::here());
Tensor logSoftmax(const Stream &stream, const Operand &x, int dim = -1, Loc loc = Loc::here());

/// Gradients with respect to x, from dy, that of y, and from y itself:
/// softmaxBackward: dx[r, j] = y[r, j] * (dy[r, j] - sum over k of dy[r, k] * y[r, k]).
/// logSoftmaxBackward: dx[r, j] = dy[r, j] - exp(y[r, j]) * sum over k of dy[r, k].
///
/// Shapes, dtypes and errors as above, of dy, y and dx; dx may be dy or y itself, with the same
/// strides. The new tensor has y's dtype. NaN and infinities go through the formulas as they are.
/// Method: dy and y are read once, or twice where softmax reads x twice.
void softmaxBackward(const Stream &stream, const Operand &dy, const Operand &y, const Operand &dx,
                     int dim = -1, Loc loc = Loc::here());
Tensor softmaxBackward(const Stream &stream, const Operand &dy, const Operand &y, int dim = -1,
                       Loc loc = Loc::here());
void logSoftmaxBackward(const Stream &stream, const Operand &dy, const Operand &y,
                        const Operand &dx, int dim = -1, Loc loc = Loc::here());
Tensor logSoftmaxBackward(const Stream &stream, const Operand &dy, const Operand &y, int dim = -1,
                          Loc loc = Loc::here());

} // namespace tile::ops
