// Steps of optimizers, each one pass over memory in one kernel, and what keeps gradients in bounds.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

struct SgdOptions {
  double rate = 1e-2;
  double momentum = 0;
  double weightDecay = 0; ///< added to the gradient, times the weight
};
/// Stochastic gradient descent:
///   g = gradient + weightDecay * w
///   velocity = momentum * velocity + g      (with a velocity; else the step is g)
///   w = w - rate * velocity
///
/// Shapes: one for all, any strides; `velocity` is Operand() if there is no momentum.
/// Dtypes: weights and gradient each f16, bf16, f32 or f64; velocity f32 (f64 of f64 weights).
/// Computed in f32, of f64 weights in f64.
/// Weights and velocity are changed in place.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: extents or
/// dtypes, tensors that overlap in another way than element for element, momentum without a
/// velocity, a rate, momentum or weight decay that is negative or not finite.
void sgd(const Stream &stream, const Operand &weights, const Operand &gradient,
         const Operand &velocity, const SgdOptions &options = {}, Loc loc = Loc::here());

struct AdamWOptions {
  double rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weightDecay = 1e-2; ///< decoupled: the weights shrink by rate * weightDecay
};
/// AdamW (I. Loshchilov, F. Hutter: Decoupled Weight Decay Regularization, 2019), step number
/// `step` = 1, 2, ...:
///   m = beta1 * m + (1 - beta1) * g
///   v = beta2 * v + (1 - beta2) * g^2
///   d = m / (1 - beta1^step) / (sqrt(v / (1 - beta2^step)) + epsilon)
///   w = w - rate * (d + weightDecay * w)
///
/// Shapes: one for all, any strides. `master` is Operand(), or the weights in f32, which are then
/// what is changed: `weights` get them rounded. Start m and v with zeros.
/// Dtypes: weights and gradient each f16, bf16, f32 or f64; m, v and master f32 (f64 of f64
/// weights). Computed in f32, of f64 weights in f64. All but the gradient are changed in place.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: extents or
/// dtypes, tensors that overlap in another way than element for element, a step below 1, a beta
/// that is not in 0 .. 1 or is 1, a rate, epsilon or weight decay that is negative or not finite.
void adamW(const Stream &stream, const Operand &weights, const Operand &gradient, const Operand &m,
           const Operand &v, int64_t step, const AdamWOptions &options = {}, Loc loc = Loc::here());
void adamW(const Stream &stream, const Operand &weights, const Operand &gradient, const Operand &m,
           const Operand &v, const Operand &master, int64_t step, const AdamWOptions &options = {},
           Loc loc = Loc::here());

/// norm = the square root of the sum of squares of all elements of all tensors: one f32 element, of
/// any rank. Sums are kept in f32, in a fixed order. No tensors: 0.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line.
void globalNorm(const Stream &stream, std::span<const Operand> tensors, const Operand &norm,
                Loc loc = Loc::here());
/// Scales the tensors in place by min(1, largest / norm), with `norm` as globalNorm left it on the
/// device; nobody waits. A norm that is NaN or infinite makes them NaN or 0, as the formula says.
/// Errors: also for tensors that overlap one another, and a `largest` that is negative or NaN.
void clipByNorm(const Stream &stream, std::span<const Operand> tensors, const Operand &norm,
                double largest, Loc loc = Loc::here());

} // namespace tile::ops
