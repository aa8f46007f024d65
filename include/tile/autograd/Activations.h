// Activation functions of variables: those of ops/Activations.h, with gradients.
//
// Errors: those of the op, at the caller's line.
#pragma once

#include <tile/autograd/Variable.h>

namespace tile::autograd {

/// The function of the same name in ops, element by element. x is kept for the gradient.
Variable relu(const Variable &x, Loc loc = Loc::here());
Variable gelu(const Variable &x, Loc loc = Loc::here());
Variable geluTanh(const Variable &x, Loc loc = Loc::here());
Variable silu(const Variable &x, Loc loc = Loc::here());
Variable sigmoid(const Variable &x, Loc loc = Loc::here());
Variable tanh(const Variable &x, Loc loc = Loc::here());

/// silu(a) * b, broadcast by NumPy's rule; both gradients are made in one pass.
Variable swiglu(const Variable &a, const Variable &b, Loc loc = Loc::here());
/// The same where a and b are the halves of the last dimension of `ab`.
Variable swigluHalves(const Variable &ab, Loc loc = Loc::here());

} // namespace tile::autograd
