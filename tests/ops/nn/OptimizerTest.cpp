// Optimizers: their steps against plain loops, and that a training loop asks for memory once.
#include "tests/ops/nn/Models.h"

#include <tile/nn/Optimizers.h>

#include <cmath>

using namespace tile;
using namespace tile::test;
using namespace tile::nn;

namespace {

class ModuleOptimizers : public OnModels {};
INSTANTIATE_TEST_SUITE_P(Devices, ModuleOptimizers, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(ModuleOptimizers, SgdWithMomentum) {
  Perceptron model(stream, generator);
  Sgd sgd(model, {.rate = 0.1, .momentum = 0.5});
  auto w = valuesOf(model.second.weight.value());
  std::vector<double> velocity(w.size(), 0.0);
  for (int step = 0; step < 3; ++step) {
    lossOf(model).backward();
    auto g = valuesOf(model.second.weight.grad());
    sgd.step();
    EXPECT_FALSE(model.second.weight.grad());
    auto now = valuesOf(model.second.weight.value());
    for (size_t i = 0; i < w.size(); ++i) {
      velocity[i] = 0.5 * velocity[i] + g[i];
      w[i] -= 0.1 * velocity[i];
      ASSERT_NEAR(now[i], w[i], 1e-6);
    }
  }
  EXPECT_EQ(sgd.steps(), 3);
}

TEST_P(ModuleOptimizers, AdamWDecaysMatricesAlone) {
  Perceptron model(stream, generator);
  AdamW adam(model, {{.rate = 0.1, .weightDecay = 0.5}});
  for (const auto &[name, parameter] : model.parameters()) {
    auto zeros = stream.tensor(f32, parameter.value().extents());
    ops::fill(stream, 0, zeros);
    parameter.setGrad(zeros);
  }
  auto weight = valuesOf(model.first.weight.value()), norm = valuesOf(model.norm.weight.value());
  adam.step();
  auto now = valuesOf(model.first.weight.value());
  for (size_t i = 0; i < weight.size(); ++i)
    ASSERT_NEAR(now[i], weight[i] * (1 - 0.1 * 0.5), 1e-6);
  EXPECT_EQ(valuesOf(model.norm.weight.value()), norm);
}

/// Steps far below a half's resolution add up in the f32 masters.
TEST_P(ModuleOptimizers, AdamWKeepsMastersOfNarrowParameters) {
  Perceptron model(stream, generator, bf16);
  AdamW adam(model, {{.rate = 1e-4, .weightDecay = 0}});
  EXPECT_EQ(adam.state().size(), 3 * model.parameters().size());
  auto before = valuesOf(model.norm.weight.value());
  for (int step = 0; step < 50; ++step) {
    Tensor ones = stream.tensor(bf16, model.norm.weight.value().extents());
    ops::fill(stream, 1, ones);
    model.norm.weight.setGrad(ones);
    adam.step();
  }
  auto now = valuesOf(model.norm.weight.value()); // 1 - 50e-4, in steps of 2^-8 below 1
  for (size_t i = 0; i < now.size(); ++i)
    EXPECT_NEAR(now[i], before[i] - 0.005, 0.002);
}

/// Whoever sets narrow parameters besides, as loading a file does, sets their masters.
TEST_P(ModuleOptimizers, AdamWTakesUpParametersThatOthersSet) {
  Perceptron model(stream, generator, bf16);
  AdamW adam(model, {{.rate = 1e-4, .weightDecay = 0}});
  lossOf(model).backward();
  adam.step();
  lossOf(model).backward();
  {
    autograd::NoGrad quiet;
    ops::fill(stream, 3, model.norm.weight.inPlace());
  }
  adam.step();
  for (double weight : valuesOf(model.norm.weight.value()))
    EXPECT_NEAR(weight, 3, 0.02);
}

TEST_P(ModuleOptimizers, LeaveOutWhatHasNoGradient) {
  Perceptron model(stream, generator);
  AdamW adam(model);
  auto before = valuesOf(model.first.weight.value());
  adam.step();
  EXPECT_EQ(valuesOf(model.first.weight.value()), before);
}

TEST_P(ModuleOptimizers, ClipGradients) {
  Perceptron model(stream, generator);
  expectRefused(ErrorCode::InvalidArgument, "clipGradients: no parameter has a gradient",
                [&] { clipGradients(model, 1); });
  lossOf(model).backward();
  auto squares = [&] {
    double total = 0;
    for (const auto &[name, parameter] : model.parameters())
      for (double g : valuesOf(parameter.grad()))
        total += g * g;
    return total;
  };
  double norm = std::sqrt(squares());
  EXPECT_NEAR(valuesOf(clipGradients(model, norm / 2))[0], norm, 1e-5 * norm);
  EXPECT_NEAR(std::sqrt(squares()), norm / 2, 1e-5 * norm);
  clipGradients(model, norm);
  EXPECT_NEAR(std::sqrt(squares()), norm / 2, 1e-5 * norm) << "below the bound nothing is scaled";
}

TEST_P(ModuleOptimizers, TrainingAsksForMemoryInItsFirstStepOnly) {
  Perceptron model(stream, generator);
  AdamW adam(model, {{.rate = 1e-2}});
  Variable x = numbers({16, 4});
  uint64_t allocations = 0;
  size_t used = 0;
  double first = 0, last = 0;
  for (int step = 0; step < 20; ++step) {
    {
      Variable y = model(x), loss = autograd::mean(autograd::multiply(y, y));
      (step == 0 ? first : last) = valuesOf(loss.value())[0];
      loss.backward();
      clipGradients(model, 1);
      adam.step();
    }
    if (step == 0)
      allocations = stream.usage().allocations, used = stream.usage().usedBytes;
    EXPECT_EQ(stream.usage().allocations, allocations) << "step " << step;
    EXPECT_EQ(stream.usage().usedBytes, used) << "step " << step;
  }
  EXPECT_LT(last, first / 4);
}

TEST(CosineRate, RisesAndFalls) {
  EXPECT_NEAR(cosineRate(0, 10, 110, 1, 0.1), 0.1, 1e-12);
  EXPECT_NEAR(cosineRate(9, 10, 110, 1, 0.1), 1, 1e-12);
  EXPECT_NEAR(cosineRate(60, 10, 110, 1, 0.1), 0.55, 1e-12);
  EXPECT_EQ(cosineRate(110, 10, 110, 1, 0.1), 0.1);
  EXPECT_EQ(cosineRate(500, 10, 110, 1, 0.1), 0.1);
  EXPECT_EQ(cosineRate(0, 0, 10, 1), 1);
}

} // namespace
