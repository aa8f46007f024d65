// Parameters and training runs in files.
#include "tests/ops/nn/Models.h"

#include <tile/nn/Files.h>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace tile;
using namespace tile::test;
using namespace tile::nn;

namespace {

class ModelFiles : public OnModels {
protected:
  void TearDown() override {
    std::filesystem::remove(path);
    OnModels::TearDown();
  }
  std::string path = (std::filesystem::temp_directory_path() /
                      ("tile_model_" + std::to_string(::getpid()) + ".safetensors"))
                         .string();
};
INSTANTIATE_TEST_SUITE_P(Devices, ModelFiles, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

std::vector<std::vector<double>> allValues(const Module &module) {
  std::vector<std::vector<double>> values;
  for (const auto &[name, parameter] : module.parameters())
    values.push_back(valuesOf(parameter.value()));
  return values;
}

TEST_P(ModelFiles, ParametersComeBack) {
  Perceptron model(stream, generator), other(stream, generator);
  saveParameters(path, model);
  EXPECT_NE(allValues(other), allValues(model));
  loadParameters(path, other);
  EXPECT_EQ(allValues(other), allValues(model));
}

TEST_P(ModelFiles, ParametersAreRounded) {
  Perceptron model(stream, generator), narrow(stream, generator, bf16);
  saveParameters(path, model);
  loadParameters(path, narrow);
  auto wide = valuesOf(model.first.weight.value()), rounded = valuesOf(narrow.first.weight.value());
  for (size_t i = 0; i < wide.size(); ++i)
    ASSERT_NEAR(rounded[i], wide[i], std::abs(wide[i]) / 256);
}

TEST_P(ModelFiles, WhatNodesHaveSavedCountsAsChanged) {
  Perceptron model(stream, generator);
  saveParameters(path, model);
  Variable loss = autograd::sum(model.second(numbers({3, 8})));
  loss = autograd::multiply(loss, loss);
  loadParameters(path, model);
  expectRefused(ErrorCode::Aliasing, "was changed in place since", [&] { loss.backward(); });
}

/// Two runs of 6 steps: one in one go, one that ends after 3 and goes on in other objects.
TEST_P(ModelFiles, AResumedRunHasTheSameBits) {
  auto train = [&](Perceptron &model, Optimizer &optimizer, TrainingState &state, int64_t until) {
    for (; state.step < until; ++state.step) {
      Variable x = numbers({16, 4}, unsigned(state.step), model.first.weight.dtype());
      Variable y = autograd::dropout(model(x), 0.3, state.generator);
      autograd::mean(autograd::multiply(y, y)).backward();
      clipGradients(model, 0.5);
      optimizer.step();
    }
  };
  for (DType dtype : {f32, bf16}) {
    ops::Generator same = generator;
    Perceptron whole(stream, same, dtype);
    AdamW adam(whole, {{.rate = 0.02}});
    TrainingState state{.generator = {.seed = 9}};
    train(whole, adam, state, 6);

    same = generator;
    Perceptron begun(stream, same, dtype);
    AdamW first(begun, {{.rate = 0.02}});
    TrainingState early{.generator = {.seed = 9}, .notes = {{"heads", "2"}, {"", "\"\n"}}};
    train(begun, first, early, 3);
    saveTraining(path, begun, first, early);

    Perceptron other(stream, same, dtype); // other numbers, all replaced
    AdamW second(other, {{.rate = 0.02}});
    TrainingState late = loadTraining(path, other, second);
    EXPECT_EQ(late.step, 3);
    EXPECT_EQ(second.steps(), 3);
    EXPECT_EQ(late.generator, early.generator);
    EXPECT_EQ(late.notes, early.notes);
    EXPECT_EQ(notesOf(stream, path), early.notes);
    train(other, second, late, 6);
    EXPECT_EQ(allValues(other), allValues(whole)) << nameOf(dtype);
  }
}

TEST_P(ModelFiles, ParametersOfARunLoadWithoutItsOptimizer) {
  Perceptron model(stream, generator), other(stream, generator);
  AdamW adam(model);
  saveTraining(path, model, adam, {});
  loadParameters(path, other);
  EXPECT_EQ(allValues(other), allValues(model));
}

TEST_P(ModelFiles, Refusals) {
  Perceptron model(stream, generator), wide(stream, generator, f32, 16);
  AdamW adam(model), adamOfWide(wide);
  Linear part(stream, generator, 4, 8);
  expectRefused(ErrorCode::IoError, "cannot be read", [&] { loadParameters(path, model); });
  saveParameters(path, model);
  auto before = allValues(wide);
  expectRefused(ErrorCode::InvalidShape, "'first.weight' is f32 8x4, the module's is f32 16x4",
                [&] { loadParameters(path, wide); });
  EXPECT_EQ(allValues(wide), before);
  expectRefused(ErrorCode::InvalidArgument, "has no tensor 'weight' (f32 8x4)",
                [&] { loadParameters(path, part); });
  expectRefused(ErrorCode::InvalidArgument, "says nothing of 'step'",
                [&] { loadTraining(path, model, adam); });
  saveParameters(path, model.first);
  Linear noBias(stream, generator, 4, 8, {.bias = false});
  expectRefused(ErrorCode::InvalidArgument, "has a tensor 'bias' (f32 8), which the module has not",
                [&] { loadParameters(path, noBias); });
  saveTraining(path, model, Sgd(model, {.momentum = 0.9}), {});
  expectRefused(ErrorCode::InvalidArgument,
                "has no tensor 'optimizer.m.first.weight' (f32 8x4), which the optimizer needs",
                [&] { loadTraining(path, model, adam); });
  Perceptron narrow(stream, generator, f16);
  AdamW adamOfNarrow(narrow);
  saveTraining(path, model, adam, {});
  expectRefused(ErrorCode::InvalidArgument, "going on needs the same dtype",
                [&] { loadTraining(path, narrow, adamOfNarrow); });
  std::ofstream(path, std::ios::trunc) << "no such thing";
  expectRefused(ErrorCode::Parse, "header", [&] { loadParameters(path, model); });
}

} // namespace
