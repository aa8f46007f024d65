// Softmax of rows.
#pragma once

#include <tile/ops/Operand.h>

namespace tile::ops {

/// y[r, j] = exp(x[r, j] - m) / sum over k of exp(x[r, k] - m), where m is the largest x[r, k].
///
/// Shapes: x and y have equal extents; a row is the last dimension, of any length. Any strides;
/// leading dimensions that do not merge into one are copied. Empty tensors are fine.
/// Dtypes: x and y each f16, bf16 or f32; everything between is computed in f32.
/// Method: a row of up to 8192 elements is read once and stays in registers; longer ones are read
/// twice, with the running maximum and sum of an online softmax in the first pass.
/// A row that contains NaN or +infinity, or only -infinities, becomes NaN; other elements that are
/// -infinity become 0.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: extents
/// differ, a dtype is not in the list, a tensor is of another device, a scalar, y overlaps x or
/// repeats elements.
void softmax(Stream &stream, const Operand &x, const Operand &y, Loc loc = Loc::here());

} // namespace tile::ops
