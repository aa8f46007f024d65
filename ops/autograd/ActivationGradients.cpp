// Activation functions of variables.
#include "ops/autograd/Shapes.h"

#include <tile/autograd/Activations.h>
#include <tile/autograd/Function.h>
#include <tile/ops/Activations.h>

namespace tile::autograd {
namespace {

/// A function of ops and its derivative.
struct Activation {
  const char *name;
  Tensor (*of)(const Stream &, const ops::Operand &, Loc);
  Tensor (*backward)(const Stream &, const ops::Operand &, const ops::Operand &, Loc);
};

template <const Activation &activation> struct ActivationOf {
  static constexpr const char *kName = activation.name;
  Tensor forward(Context &context, const Tensor &x) {
    context.save({x});
    return activation.of(context.stream(), x, context.where());
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return activation.backward(context.stream(), context.saved(0), dy, context.where());
  }
};

constexpr Activation kRelu{"relu", ops::relu, ops::reluBackward};
constexpr Activation kGelu{"gelu", ops::gelu, ops::geluBackward};
constexpr Activation kGeluTanh{"geluTanh", ops::geluTanh, ops::geluTanhBackward};
constexpr Activation kSilu{"silu", ops::silu, ops::siluBackward};
constexpr Activation kSigmoid{"sigmoid", ops::sigmoid, ops::sigmoidBackward};
constexpr Activation kTanh{"tanh", ops::tanh, ops::tanhBackward};
constexpr Activation kSwigluHalves{"swigluHalves", ops::swigluHalves, ops::swigluHalvesBackward};

struct Swiglu {
  static constexpr const char *kName = "swiglu";
  Tensor forward(Context &context, const Tensor &a, const Tensor &b) {
    context.save({a, b});
    return ops::swiglu(context.stream(), a, b, context.where());
  }
  std::array<Tensor, 2> backward(Context &context, const Tensor &dy) {
    const Stream &stream = context.stream();
    Loc where = context.where();
    const Tensor &a = context.saved(0), &b = context.saved(1);
    Tensor da = stream.tensor(a.dtype(), dy.extents()), db = stream.tensor(b.dtype(), dy.extents());
    ops::swigluBackward(stream, a, b, dy, da, db, where);
    return {detail::summedTo(stream, da, detail::extentsOf(a), where),
            detail::summedTo(stream, db, detail::extentsOf(b), where)};
  }
};

} // namespace

Variable relu(const Variable &x, Loc loc) { return apply(ActivationOf<kRelu>(), loc, x); }
Variable gelu(const Variable &x, Loc loc) { return apply(ActivationOf<kGelu>(), loc, x); }
Variable geluTanh(const Variable &x, Loc loc) { return apply(ActivationOf<kGeluTanh>(), loc, x); }
Variable silu(const Variable &x, Loc loc) { return apply(ActivationOf<kSilu>(), loc, x); }
Variable sigmoid(const Variable &x, Loc loc) { return apply(ActivationOf<kSigmoid>(), loc, x); }
Variable tanh(const Variable &x, Loc loc) { return apply(ActivationOf<kTanh>(), loc, x); }
Variable swiglu(const Variable &a, const Variable &b, Loc loc) {
  return apply(Swiglu(), loc, a, b);
}
Variable swigluHalves(const Variable &ab, Loc loc) {
  return apply(ActivationOf<kSwigluHalves>(), loc, ab);
}

} // namespace tile::autograd
