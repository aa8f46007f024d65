// Activation functions, element by element, and their derivatives.
//
// Each function comes in two forms: with the outputs as its last tensors, and returning a new
// tensor of the stream (Stream::tensor).
//
// Shapes: inputs broadcast to the output's extents by NumPy's rule. Any strides, as in `map`. Empty
// tensors are fine. An output may be one of the inputs itself; it may not overlap them in another
// way, nor repeat elements.
// Dtypes: each of f16, bf16, f32, f64, in any mixture. Computed in f32, in f64 if an input is f64,
// and rounded once. A new tensor has x's dtype (a's for swiglu).
//
// Accuracy in f32, relative to the exact function of the stored x, in units of 2^-23: relu exact;
// sigmoid, tanh 5; silu 6; gelu 12; geluTanh 6 + 2 |v| where it is x * sigmoid(v). This holds for x
// far below zero too, down to results of 2^-126, wherever ex2.approx and div.full lie within PTX's
// bounds. Derivatives: absolute error 1e-6. 16-bit results are these, rounded. In f64: 1e-14 times
// max(1, |x|), absolute.
//
// A NaN gives NaN. Infinities give the limits: gelu, silu and their derivatives at -infinity are 0.
//
// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing, Unsupported), at the caller's line:
// a dtype that is not in the list, and those of `map`.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// y = f(x), where f is
///   relu      the larger of x and 0
///   gelu      x * (1 + erf(x / sqrt 2)) / 2
///   geluTanh  x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2, an approximation of gelu
///   silu      x * sigmoid(x)
///   sigmoid   1 / (1 + exp(-x))
///   tanh      the hyperbolic tangent
/// One pass: x is read and y written once.
void relu(const Stream &stream, const Operand &x, const Operand &y, Loc loc = Loc::here());
Tensor relu(const Stream &stream, const Operand &x, Loc loc = Loc::here());
void gelu(const Stream &stream, const Operand &x, const Operand &y, Loc loc = Loc::here());
Tensor gelu(const Stream &stream, const Operand &x, Loc loc = Loc::here());
void geluTanh(const Stream &stream, const Operand &x, const Operand &y, Loc loc = Loc::here());
Tensor geluTanh(const Stream &stream, const Operand &x, Loc loc = Loc::here());
void silu(const Stream &stream, const Operand &x, const Operand &y, Loc loc = Loc::here());
Tensor silu(const Stream &stream, const Operand &x, Loc loc = Loc::here());
void sigmoid(const Stream &stream, const Operand &x, const Operand &y, Loc loc = Loc::here());
Tensor sigmoid(const Stream &stream, const Operand &x, Loc loc = Loc::here());
void tanh(const Stream &stream, const Operand &x, const Operand &y, Loc loc = Loc::here());
Tensor tanh(const Stream &stream, const Operand &x, Loc loc = Loc::here());

/// dx = dy * f'(x): what a change of y means for x. `x` is the function's argument. The derivative
/// of relu at 0 is 0; at NaN it is 1, so that dy passes.
/// One pass: x and dy are read and dx written once.
void reluBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                  Loc loc = Loc::here());
Tensor reluBackward(const Stream &stream, const Operand &x, const Operand &dy,
                    Loc loc = Loc::here());
void geluBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                  Loc loc = Loc::here());
Tensor geluBackward(const Stream &stream, const Operand &x, const Operand &dy,
                    Loc loc = Loc::here());
void geluTanhBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                      Loc loc = Loc::here());
Tensor geluTanhBackward(const Stream &stream, const Operand &x, const Operand &dy,
                        Loc loc = Loc::here());
void siluBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                  Loc loc = Loc::here());
Tensor siluBackward(const Stream &stream, const Operand &x, const Operand &dy,
                    Loc loc = Loc::here());
void sigmoidBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                     Loc loc = Loc::here());
Tensor sigmoidBackward(const Stream &stream, const Operand &x, const Operand &dy,
                       Loc loc = Loc::here());
void tanhBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                  Loc loc = Loc::here());
Tensor tanhBackward(const Stream &stream, const Operand &x, const Operand &dy,
                    Loc loc = Loc::here());

/// y = silu(a) * b, and da = dy * b * silu'(a), db = dy * silu(a). Gradients of operands that were
/// broadcast have y's extents: `sumTo` (Reduce.h) makes them those of the operand.
/// One pass each: backward writes both gradients at once.
void swiglu(const Stream &stream, const Operand &a, const Operand &b, const Operand &y,
            Loc loc = Loc::here());
Tensor swiglu(const Stream &stream, const Operand &a, const Operand &b, Loc loc = Loc::here());
void swigluBackward(const Stream &stream, const Operand &a, const Operand &b, const Operand &dy,
                    const Operand &da, const Operand &db, Loc loc = Loc::here());

/// The same where a and b are the first and second half of the last dimension of one tensor `ab`,
/// as one product with two weight matrices leaves them: ... x 2n gives ... x n. Nothing is copied.
/// Error: InvalidShape if `ab` has no last dimension, or one of odd extent.
void swigluHalves(const Stream &stream, const Operand &ab, const Operand &y, Loc loc = Loc::here());
Tensor swigluHalves(const Stream &stream, const Operand &ab, Loc loc = Loc::here());
void swigluHalvesBackward(const Stream &stream, const Operand &ab, const Operand &dy,
                          const Operand &dab, Loc loc = Loc::here());
Tensor swigluHalvesBackward(const Stream &stream, const Operand &ab, const Operand &dy,
                            Loc loc = Loc::here());

} // namespace tile::ops
