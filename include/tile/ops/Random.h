// Tensors of random numbers, and dropout.
//
// Numbers come from the counter-based generator of the language (tile/Random.h, Philox-4x32-10):
// the element at position i of the output, counted in row-major order whatever its strides, is a
// function of the generator's seed and of its offset + i alone. The same state gives the same
// numbers for every shape of equal size, memory order, tile size and device; only the last bits of
// `randn`, which uses approximate functions, differ between devices. One 128-bit word of Philox is
// made for each element, so that any element can be made alone: a fill is bound by that arithmetic,
// not by memory.
//
//   ops::Generator generator{.seed = 42};
//   ops::randn(stream, generator, weights, 0, 0.02);
//   ops::Generator before = generator;
//   ops::dropout(stream, generator, x, 0.1, y);
//   ops::dropoutBackward(stream, before, dy, 0.1, dx); // the same mask
//
// Shapes: any, with at most 5 dimensions left after those are merged that are walked alike in
// row-major order. Outputs may not repeat elements. Empty tensors are fine and draw nothing.
// Errors (InvalidArgument, and those of `map`), at the caller's line.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// The state of a sequence of random numbers: two numbers, to be saved, restored and compared.
/// Drawing n numbers takes those of offset .. offset + n - 1 and adds n to the offset. Generators
/// of different seeds, and parts of one sequence that do not overlap, are independent.
struct Generator {
  uint64_t seed = 0;
  uint64_t offset = 0;

  /// Skips the next `count` numbers and returns the state before, which draws them.
  Generator take(uint64_t count);
  bool operator==(const Generator &) const = default;
};

/// Every element becomes a number that is uniform in [0, 1): a multiple of 2^-24, in f64 of 2^-53,
/// in f16 of 2^-11, in bf16 of 2^-8, all equally probable. y: f16, bf16, f32, f64.
void rand(const Stream &stream, Generator &generator, const Operand &y, Loc loc = Loc::here());
/// Normally distributed numbers of this mean and standard deviation, by the Box-Muller transform in
/// f32 (its largest magnitude is about 6.7), in f64 for f64 (8.6). y: f16, bf16, f32, f64.
void randn(const Stream &stream, Generator &generator, const Operand &y, double mean = 0,
           double deviation = 1, Loc loc = Loc::here());
/// Whole numbers low .. high - 1. Their probabilities differ by less than (high - low) / 2^64 of
/// themselves. y: integers of 8 to 64 bits that hold them. Errors: high <= low; numbers that y
/// cannot hold.
void randint(const Stream &stream, Generator &generator, int64_t low, int64_t high,
             const Operand &y, Loc loc = Loc::here());
/// 1 with this probability, rounded to a multiple of 2^-32, else 0. y: any dtype. Error: a
/// probability that is not in [0, 1].
void bernoulli(const Stream &stream, Generator &generator, double probability, const Operand &y,
               Loc loc = Loc::here());
/// The same in new tensors of the stream (Stream::tensor).
Tensor rand(const Stream &stream, Generator &generator, DType dtype, std::span<const int64_t> shape,
            Loc loc = Loc::here());
Tensor randn(const Stream &stream, Generator &generator, DType dtype,
             std::span<const int64_t> shape, double mean = 0, double deviation = 1,
             Loc loc = Loc::here());

/// y = x / (1 - p) or, with probability p (rounded to a multiple of 2^-32), 0: which elements, the
/// generator says. p = 0 copies x, p = 1 gives zeros; a dropped NaN or infinity is 0. Draws as many
/// numbers as y has elements. x broadcasts to y. Dtypes: f16, bf16, f32, f64; computed in f32, in
/// f64 if x or y is f64. y may be x. One pass, fused: nothing is stored besides y. Error: p outside
/// [0, 1].
void dropout(const Stream &stream, Generator &generator, const Operand &x, double p,
             const Operand &y, Loc loc = Loc::here());
Tensor dropout(const Stream &stream, Generator &generator, const Operand &x, double p,
               Loc loc = Loc::here());
/// y = residual + dropout(x), in one pass and with the mask that `dropout` has from this state. The
/// gradient of the residual is dy itself.
void dropoutAdd(const Stream &stream, Generator &generator, const Operand &x,
                const Operand &residual, double p, const Operand &y, Loc loc = Loc::here());
Tensor dropoutAdd(const Stream &stream, Generator &generator, const Operand &x,
                  const Operand &residual, double p, Loc loc = Loc::here());
/// dx = dy / (1 - p) or 0: the mask is made again from `before`, the state that the generator had
/// when dropout or dropoutAdd was called with as many elements. dx may be dy.
void dropoutBackward(const Stream &stream, const Generator &before, const Operand &dy, double p,
                     const Operand &dx, Loc loc = Loc::here());
Tensor dropoutBackward(const Stream &stream, const Generator &before, const Operand &dy, double p,
                       Loc loc = Loc::here());

} // namespace tile::ops
