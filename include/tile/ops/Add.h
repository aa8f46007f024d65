// Elementwise addition.
#pragma once

#include <tile/ops/Operand.h>

namespace tile::ops {

/// c[i] = a[i] + b[i] for every index i.
///
/// Shapes: a, b and c have equal extents; nothing is broadcast. Rank 1 and 2 may have any strides;
/// higher ranks must be contiguous. Empty tensors are fine.
/// Dtypes: one for all three, of f16, bf16, f32, f64, i8, i16, i32, i64 and the unsigned ones.
/// Floats round once; 16-bit floats are added in f32; integers wrap.
/// c may be a or b itself; it may not overlap them in another way, nor have stride 0.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: extents or
/// dtypes differ, a dtype is not in the list, a tensor is of another device, a strided tensor of
/// rank 3 or more, c repeats elements.
void add(Stream &stream, const Operand &a, const Operand &b, const Operand &c,
         Loc loc = Loc::here());

} // namespace tile::ops
