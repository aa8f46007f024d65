// Gradients against differences: does a backward compute what its forward says?
#pragma once

#include <tile/autograd/Variable.h>

namespace tile::autograd {

struct GradCheckOptions {
  double step = 1e-6;
  double relative = 1e-5, absolute = 1e-7;
  uint64_t seed = 1; ///< of the weights of the outputs
};

/// Compares the gradients of f with central differences, element by element of every trained input.
/// f is a function of f64 variables to one variable of any extents, the same each time; its
/// elements are summed with random weights. Where f computes in a narrower dtype (it casts its
/// inputs), take a step of about the cube root of that dtype's rounding error: 1e-2 for f32, and
/// tolerances of its square. Returns an empty text, or what differs most: input, index, both
/// numbers. Errors: those of f and backward(); InvalidArgument for a trained input that is not f64.
///   EXPECT_EQ(gradcheck([](auto x) { return multiply(x[0], x[1]); }, {a, b}), "");
std::string gradcheck(const std::function<Variable(std::span<const Variable>)> &f,
                      std::vector<Variable> inputs, GradCheckOptions options = {},
                      Loc loc = Loc::here());

} // namespace tile::autograd
