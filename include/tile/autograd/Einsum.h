// Sums of products of variables, written with a letter for each dimension: ops/Einsum.h, with
// gradients.
#pragma once

#include <tile/autograd/Variable.h>
#include <tile/ops/Einsum.h>

#include <initializer_list>
#include <string_view>

namespace tile::autograd {

/// The sum of products that the formula says, as in ops::einsum:
///   Variable scores = autograd::einsum("bhqd,bhkd->bhqk", {q, k});
/// The gradient of an operand is an einsum of that of the result and the other operands, which are
/// kept; it is repeated along letters that this operand alone has, and lies on the diagonal of
/// letters that it has twice.
///
/// Errors: those of the op, at the caller's line.
Variable einsum(std::string_view formula, std::span<const Variable> operands,
                const ops::MatmulOptions &options = {}, Loc loc = Loc::here());
Variable einsum(std::string_view formula, std::initializer_list<Variable> operands,
                const ops::MatmulOptions &options = {}, Loc loc = Loc::here());

} // namespace tile::autograd
