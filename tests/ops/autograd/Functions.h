// Functions of variables for tests of the engine, written as a user writes them.
#pragma once

#include <tile/autograd/Function.h>
#include <tile/ops/Arithmetic.h>

namespace tile::test {

using autograd::Context;
using autograd::Variable;

struct Sum {
  static constexpr const char *kName = "sum_of_two";
  Tensor forward(Context &context, const Tensor &a, const Tensor &b) {
    return ops::add(context.stream(), a, b);
  }
  std::array<Tensor, 2> backward(Context &, const Tensor &dy) { return {dy, dy}; }
};
inline Variable operator+(const Variable &a, const Variable &b) {
  return autograd::apply(Sum(), Loc::here(), a, b);
}

struct Product {
  static constexpr const char *kName = "product";
  Tensor forward(Context &context, const Tensor &a, const Tensor &b) {
    context.save({a, b});
    return ops::multiply(context.stream(), a, b);
  }
  std::array<Tensor, 2> backward(Context &context, const Tensor &dy) {
    auto times = [&](size_t input, size_t other) {
      return context.needs(input) ? ops::multiply(context.stream(), dy, context.saved(other))
                                  : Tensor();
    };
    return {times(0, 1), times(1, 0)};
  }
};
inline Variable multiply(const Variable &a, const Variable &b, Loc loc = Loc::here()) {
  return autograd::apply(Product(), loc, a, b);
}
inline Variable operator*(const Variable &a, const Variable &b) {
  return autograd::apply(Product(), Loc::here(), a, b);
}

/// y = factor * x
struct Scale {
  static constexpr const char *kName = "scale";
  double factor;
  Tensor forward(Context &context, const Tensor &x) {
    return ops::affine(context.stream(), x, factor, 0);
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return ops::affine(context.stream(), dy, factor, 0);
  }
};
inline Variable scale(const Variable &x, double factor, Loc loc = Loc::here()) {
  return autograd::apply(Scale{factor}, loc, x);
}

/// Both halves of a function with two outputs: (x + y, x * y).
struct SumAndProduct {
  static constexpr const char *kName = "sum_and_product";
  std::array<Tensor, 2> forward(Context &context, const Tensor &x, const Tensor &y) {
    context.save({x, y});
    return {ops::add(context.stream(), x, y), ops::multiply(context.stream(), x, y)};
  }
  std::array<Tensor, 2> backward(Context &context, const Tensor &sum, const Tensor &product) {
    auto gradient = [&](size_t other) {
      if (!product)
        return sum;
      Tensor part = ops::multiply(context.stream(), product, context.saved(other));
      return sum ? ops::add(context.stream(), part, sum) : part;
    };
    return {gradient(1), gradient(0)};
  }
};

} // namespace tile::test
