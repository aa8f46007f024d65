// Modules that the tests train, written as a user writes them.
#pragma once

#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/autograd/Activations.h>
#include <tile/autograd/Ops.h>
#include <tile/nn/Layers.h>
#include <tile/ops/Arithmetic.h>

namespace tile::test {

using autograd::Variable;

/// Two layers that have a norm between them.
struct Perceptron : nn::Module {
  nn::Linear first, second;
  nn::LayerNorm norm;

  Perceptron(const Stream &stream, ops::Generator &generator, DType dtype = f32, int64_t hidden = 8)
      : first(stream, generator, 4, hidden, {.dtype = dtype}),
        second(stream, generator, hidden, 2, {.bias = false, .dtype = dtype}),
        norm(stream, hidden, {.dtype = dtype}) {}
  Variable operator()(const Variable &x) const { return second(autograd::relu(norm(first(x)))); }
  void members(nn::Members &add) const override {
    add("first", first);
    add("norm", norm);
    add("second", second);
  }
};

class OnModels : public OnDevice {
protected:
  void TearDown() override { EXPECT_EQ(autograd::liveNodes(), 0u); }
  ops::Generator generator{.seed = 5};

  Variable numbers(std::vector<int64_t> extents, unsigned seed = 1, DType dtype = f32) {
    int64_t size = 1;
    for (int64_t extent : extents)
      size *= extent;
    Variable x(stream, input(extents, uniform<float>(size, -1, 1, seed)));
    return dtype == f32 ? x : autograd::cast(x, dtype);
  }
  /// The mean square of what the module makes of some numbers.
  Variable lossOf(const Perceptron &module, unsigned seed = 1) {
    Variable y = module(numbers({16, 4}, seed, module.first.weight.dtype()));
    return autograd::mean(autograd::multiply(y, y));
  }
};

/// The elements, whichever stream writes them.
inline std::vector<double> valuesOf(const Tensor &tensor) {
  tensor.device().synchronize();
  Stream stream = tensor.device().stream();
  return TensorOf<double>(ops::copy(stream, tensor, f64)).download();
}

} // namespace tile::test
