// Arithmetic of tensors, element by element, with broadcasting.
//
// Each function comes in two forms: with the output as its last tensor, and returning a new tensor
// of the stream (Stream::tensor) with the broadcast extents.
#pragma once

#include <tile/Number.h>
#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// c = a + b, a - b, a * b, a / b, the larger, the smaller, element by element.
///
/// Shapes: a and b broadcast to c's extents by NumPy's rule; the new tensor has the extents that a
/// and b broadcast to. Any strides, as in `map`. Empty tensors are fine.
/// Dtypes: one for all three, of f16, bf16, f32, f64, i8, i16, i32, i64 and the unsigned ones.
/// Floats round once; 16-bit floats are computed in f32, f32 quotients have PTX's approximation (2
/// ulp); integers wrap, their quotients truncate toward zero and are open for a divisor of 0. The
/// larger and the smaller of a NaN and a number is NaN.
/// c may be a or b itself; it may not overlap them in another way, nor repeat elements (stride 0).
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing, Unsupported), at the caller's
/// line: extents do not broadcast, dtypes differ or are not in the list, a tensor is of another
/// device, c overlaps or repeats elements, and those of `map`.
void add(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
         Loc loc = Loc::here());
void subtract(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
              Loc loc = Loc::here());
void multiply(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
              Loc loc = Loc::here());
void divide(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
            Loc loc = Loc::here());
void maximum(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
             Loc loc = Loc::here());
void minimum(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
             Loc loc = Loc::here());
Tensor add(const Stream &stream, const Operand &a, const Operand &b, Loc loc = Loc::here());
Tensor subtract(const Stream &stream, const Operand &a, const Operand &b, Loc loc = Loc::here());
Tensor multiply(const Stream &stream, const Operand &a, const Operand &b, Loc loc = Loc::here());
Tensor divide(const Stream &stream, const Operand &a, const Operand &b, Loc loc = Loc::here());
Tensor maximum(const Stream &stream, const Operand &a, const Operand &b, Loc loc = Loc::here());
Tensor minimum(const Stream &stream, const Operand &a, const Operand &b, Loc loc = Loc::here());

/// y = factor * x + offset, computed in f32 (f64 if y is f64). x may be y. Any floating-point
/// dtypes; x broadcasts to y. Errors: those of `add`.
void affine(const Stream &stream, const Operand &x, double factor, double offset, const Operand &y,
            Loc loc = Loc::here());
Tensor affine(const Stream &stream, const Operand &x, double factor, double offset,
              Loc loc = Loc::here());

/// y = x in y's dtype: copies, casts (as `cast` in a kernel), transposes and broadcasts, since any
/// strides are fine. Errors: those of `map`.
void copy(const Stream &stream, const Operand &x, const Operand &y, Loc loc = Loc::here());
/// A contiguous copy, in another dtype if one is given.
Tensor copy(const Stream &stream, const Operand &x, DType dtype = any, Loc loc = Loc::here());
/// Every element becomes `value`, rounded once to y's dtype; integers must fit and stay exact.
/// Errors: those of `map`.
void fill(const Stream &stream, const Number &value, const Operand &y, Loc loc = Loc::here());

} // namespace tile::ops
