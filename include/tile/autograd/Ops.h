// Ops of variables: what include/tile/ops computes, with gradients. Each works on the stream of its
// inputs and returns a variable in memory of that stream.
//
// Errors: those of the op, at the caller's line; InvalidHandle if no input is a variable,
// InvalidArgument if inputs are of different streams.
#pragma once

#include <tile/autograd/Function.h>
#include <tile/ops/Matmul.h>
#include <tile/ops/Random.h>
#include <tile/ops/Reduce.h>

namespace tile::autograd {

/// a + b, a - b, a * b, a / b, element by element, broadcast by NumPy's rule: the gradient of an
/// operand is the sum over where it was repeated.
Variable add(const Variable &a, const Variable &b, Loc loc = Loc::here());
Variable subtract(const Variable &a, const Variable &b, Loc loc = Loc::here());
Variable multiply(const Variable &a, const Variable &b, Loc loc = Loc::here());
Variable divide(const Variable &a, const Variable &b, Loc loc = Loc::here());
/// factor * x + offset.
Variable affine(const Variable &x, double factor, double offset = 0, Loc loc = Loc::here());

/// The sum or mean over dimensions; of all without a list.
Variable sum(const Variable &x, const ops::Axes &axes = {}, const tile::ReduceOptions &options = {},
             Loc loc = Loc::here());
Variable mean(const Variable &x, const ops::Axes &axes = {},
              const tile::ReduceOptions &options = {}, Loc loc = Loc::here());

/// The matrix product of the last two dimensions, with batches as in ops::matmul.
Variable matmul(const Variable &a, const Variable &b, const ops::MatmulOptions &options = {},
                Loc loc = Loc::here());
/// x weight^T + bias, as in ops::linear; no bias for Variable().
Variable linear(const Variable &x, const Variable &weight, const Variable &bias = {},
                const ops::MatmulOptions &options = {}, Loc loc = Loc::here());

/// x / (1 - p), or 0 with probability p, as in ops::dropout: draws from the generator, which must
/// live until backward() if this is inside a checkpoint(). The mask is not kept but drawn again.
Variable dropout(const Variable &x, double p, ops::Generator &generator, Loc loc = Loc::here());

/// The same elements in another shape, of which one extent may be -1. A view where x is contiguous,
/// else a copy.
Variable reshape(const Variable &x, std::vector<int64_t> shape, Loc loc = Loc::here());
/// Dimension i of the result is dimension order[i] of x. A view.
Variable permute(const Variable &x, std::vector<int> order, Loc loc = Loc::here());
/// The parts of x along a dimension, which have these extents there; together they are all of x.
/// Views. A negative dimension counts from the last.
std::vector<Variable> split(const Variable &x, int dim, std::vector<int64_t> extents,
                            Loc loc = Loc::here());
/// The parts one after the other along a dimension; their other extents and dtypes must be the
/// same. A copy.
Variable concatenate(std::span<const Variable> parts, int dim, Loc loc = Loc::here());
/// Another floating-point dtype; the gradient is cast back.
Variable cast(const Variable &x, DType dtype, Loc loc = Loc::here());

} // namespace tile::autograd
