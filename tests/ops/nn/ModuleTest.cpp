// Names of parameters, and what layers compute.
#include "tests/ops/nn/Models.h"

#include <cmath>

using namespace tile;
using namespace tile::test;
using namespace tile::nn;

namespace {

class Modules : public OnModels {};
INSTANTIATE_TEST_SUITE_P(Devices, Modules, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

std::vector<std::string> namesOf(const Module &module) {
  std::vector<std::string> names;
  for (const NamedVariable &each : module.parameters())
    names.push_back(each.name);
  return names;
}

TEST_P(Modules, NameTheirParameters) {
  Perceptron model(stream, generator);
  EXPECT_EQ(namesOf(model), (std::vector<std::string>{"first.weight", "first.bias", "norm.weight",
                                                      "norm.bias", "second.weight"}));
  EXPECT_EQ(model.parameterCount(), 4 * 8 + 8 + 8 + 8 + 8 * 2);
}

struct Stack : Module {
  std::vector<Linear> layers;
  Variable scale;
  void members(Members &add) const override {
    add("layers", layers);
    add("scale", scale);
    if (layers.size() > 1)
      add("tied", layers[0].weight);
  }
};

TEST_P(Modules, InLists) {
  Stack stack;
  EXPECT_EQ(namesOf(stack), std::vector<std::string>());
  for (int i = 0; i < 2; ++i)
    stack.layers.emplace_back(stream, generator, 3, 3);
  EXPECT_EQ(namesOf(stack), (std::vector<std::string>{"layers.0.weight", "layers.0.bias",
                                                      "layers.1.weight", "layers.1.bias"}))
      << "what is absent has no name, what is tied has one";
  stack.scale = Variable(stream, input({1}, std::vector<float>{2}), autograd::kTrained);
  EXPECT_EQ(namesOf(stack).back(), "scale");
}

struct Twins : Module {
  std::vector<Linear> layers;
  void members(Members &add) const override {
    for (const Linear &layer : layers)
      add("layer", layer);
  }
};

TEST_P(Modules, RefuseOneNameForTwo) {
  Twins twins;
  twins.layers.emplace_back(stream, generator, 3, 3);
  EXPECT_EQ(twins.parameters().size(), 2u);
  twins.layers.emplace_back(stream, generator, 3, 3);
  expectRefused(ErrorCode::InvalidArgument, "two parameters are called 'layer.weight'",
                [&] { twins.parameters(); });
}

TEST_P(Modules, StayTheSameWhenCopiedAndMoved) {
  Perceptron model(stream, generator), copy = model;
  auto before = valuesOf(model(numbers({3, 4})).value());
  Perceptron moved = std::move(model);
  EXPECT_EQ(valuesOf(moved(numbers({3, 4})).value()), before);
  EXPECT_EQ(copy.first.weight.value().data(), moved.first.weight.value().data());
}

TEST_P(Modules, BeginAlikeFromOneGenerator) {
  ops::Generator again = generator;
  Perceptron model(stream, generator), other(stream, again);
  EXPECT_EQ(valuesOf(model.first.weight.value()), valuesOf(other.first.weight.value()));
  EXPECT_EQ(generator, again);
  Perceptron third(stream, again);
  EXPECT_NE(valuesOf(model.first.weight.value()), valuesOf(third.first.weight.value()));
}

TEST_P(Modules, BeginWithTheDeviationAskedFor) {
  auto deviation = [&](const Linear &layer) {
    double squares = 0;
    auto values = valuesOf(layer.weight.value());
    for (double value : values)
      squares += value * value;
    return std::sqrt(squares / static_cast<double>(values.size()));
  };
  EXPECT_NEAR(deviation(Linear(stream, generator, 64, 100)), 0.125, 0.01);
  EXPECT_NEAR(deviation(Linear(stream, generator, 64, 100, {.deviation = 0.5})), 0.5, 0.04);
}

/// Each kind of MLP is what its parts are.
TEST_P(Modules, Mlps) {
  Variable x = numbers({2, 3, 4});
  for (Activation activation : {Activation::Relu, Activation::Gelu, Activation::GeluTanh,
                                Activation::Silu, Activation::Swiglu}) {
    Mlp mlp(stream, generator, 4, 6, {.activation = activation});
    EXPECT_EQ(mlp.up.weight.extent(0), activation == Activation::Swiglu ? 12 : 6);
    auto up = valuesOf(mlp.up(x).value()), down = valuesOf(mlp.down.weight.value());
    auto values = valuesOf(mlp(x).value());
    auto f = [&](double v) {
      switch (activation) {
      case Activation::Relu:
        return std::max(v, 0.0);
      case Activation::Gelu:
        return v * (1 + std::erf(v / std::sqrt(2.0))) / 2;
      case Activation::GeluTanh:
        return v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))) / 2;
      default:
        return v / (1 + std::exp(-v));
      }
    };
    for (size_t row = 0; row < 6; ++row)
      for (size_t out = 0; out < 4; ++out) {
        double expected = 0;
        for (size_t h = 0; h < 6; ++h) {
          bool isGated = activation == Activation::Swiglu;
          double value = isGated ? f(up[row * 12 + h]) * up[row * 12 + 6 + h] : f(up[row * 6 + h]);
          expected += value * down[out * 6 + h];
        }
        ASSERT_NEAR(values[row * 4 + out], expected, 2e-5) << int(activation);
      }
  }
}

TEST_P(Modules, Norms) {
  Variable x = numbers({5, 16});
  auto mean = [](const std::vector<double> &v, int power) {
    double total = 0;
    for (double value : v)
      total += std::pow(value, power);
    return total / static_cast<double>(v.size());
  };
  auto layer = valuesOf(LayerNorm(stream, 16)(x).value());
  EXPECT_NEAR(mean(layer, 1), 0, 1e-6);
  EXPECT_NEAR(mean(layer, 2), 1, 1e-3);
  EXPECT_NEAR(mean(valuesOf(RmsNorm(stream, 16)(x).value()), 2), 1, 1e-3);
  EXPECT_EQ(LayerNorm(stream, 16, {.bias = false}).parameters().size(), 1u);
}

TEST_P(Modules, Embeddings) {
  Embedding embedding(stream, generator, 10, 3);
  Tensor indices = input({2}, std::vector<int32_t>{7, 2});
  auto table = valuesOf(embedding.table.value()), rows = valuesOf(embedding(indices).value());
  for (size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(rows[j], table[7 * 3 + j]);
    EXPECT_EQ(rows[3 + j], table[2 * 3 + j]);
  }
}

TEST_P(Modules, Refusals) {
  expectRefused(ErrorCode::InvalidArgument, "Linear: inputs is 0; it must be at least 1",
                [&] { Linear(stream, generator, 0, 3); });
  expectRefused(ErrorCode::InvalidArgument, "LayerNorm: width is -1",
                [&] { LayerNorm(stream, -1); });
  Linear layer(stream, generator, 4, 3);
  expectRefused(ErrorCode::InvalidShape, "", [&] { layer(numbers({2, 5})); });
}

} // namespace
