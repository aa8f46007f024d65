// Normalisation of the rows of variables: the functions of ops/Norm.h, with gradients.
//
// Weight and bias are left out as Variable(). For gradients x and, of each row, one or two f32
// statistics are kept.
// Errors: those of the op, at the caller's line.
#pragma once

#include <tile/autograd/Variable.h>

#include <array>

namespace tile::autograd {

/// (x - mean) / sqrt(variance + epsilon) * weight + bias, of rows: the last dimension.
Variable layernorm(const Variable &x, const Variable &weight = {}, const Variable &bias = {},
                   double epsilon = 1e-5, Loc loc = Loc::here());
/// x / sqrt(mean of x^2 + epsilon) * weight, of rows.
Variable rmsnorm(const Variable &x, const Variable &weight = {}, double epsilon = 1e-5,
                 Loc loc = Loc::here());

/// {x + residual, the norm of that sum}, in one kernel: the residual stream goes on with the first,
/// the layer after it takes the second.
std::array<Variable, 2> addLayernorm(const Variable &x, const Variable &residual,
                                     const Variable &weight = {}, const Variable &bias = {},
                                     double epsilon = 1e-5, Loc loc = Loc::here());
std::array<Variable, 2> addRmsnorm(const Variable &x, const Variable &residual,
                                   const Variable &weight = {}, double epsilon = 1e-5,
                                   Loc loc = Loc::here());

} // namespace tile::autograd
