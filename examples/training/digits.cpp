// Trains a small network on handwritten digits: two linear layers, AdamW, cross-entropy. Every fifth of the 1,797 images is kept
// for the test. Exit code 1 if fewer than 95 % of those are recognised.
//
//   digits [--data FILE] [--epochs 20] [--curve loss.svg] [--save model.safetensors] [--device virtual]
#include "examples/training/LossCurve.h"
#include "examples/training/Progress.h"

#include <tile/autograd/Activations.h>
#include <tile/autograd/Losses.h>
#include <tile/nn/Files.h>
#include <tile/nn/Layers.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Embedding.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

using namespace tile;
using autograd::Variable;

namespace {

constexpr int64_t kPixels = 64, kClasses = 10, kBatch = 64;
constexpr int kTestEvery = 5;
constexpr double kGoal = 0.95;

struct Network : nn::Module {
  nn::Linear hidden, output;

  Network(const Stream &stream, ops::Generator &generator)
      : hidden(stream, generator, kPixels, 128), output(stream, generator, 128, kClasses) {}
  Variable operator()(const Variable &x) const { return output(autograd::relu(hidden(x))); }
  void members(nn::Members &add) const override {
    add("hidden", hidden);
    add("output", output);
  }
};

/// The images on the device, and on the host which of them are for what.
struct Digits {
  Tensor images; ///< f32, a row each, 0 to 1
  std::vector<int32_t> labels, training, test;

  Digits(const Stream &stream, const std::string &path) {
    SafeTensors file = loadSafeTensors(stream, path);
    auto pixels = TensorOf<uint8_t>(file.at("images")).download();
    auto digits = TensorOf<uint8_t>(file.at("labels")).download();
    labels.assign(digits.begin(), digits.end());
    std::vector<float> scaled(pixels.begin(), pixels.end());
    auto raw = stream.tensor<float>({static_cast<int64_t>(labels.size()), kPixels});
    raw.upload(scaled);
    images = ops::affine(stream, raw, 1.0 / 16, 0);
    for (int32_t i = 0; i < static_cast<int32_t>(labels.size()); ++i)
      (i % kTestEvery == 0 ? test : training).push_back(i);
  }
  /// These images, one after the other.
  Variable batch(const Stream &stream, std::span<const int32_t> which) const {
    auto indices = stream.tensor<int32_t>({static_cast<int64_t>(which.size())});
    indices.upload(which);
    return Variable(stream, ops::embedding(stream, images, indices));
  }
  Tensor answers(const Stream &stream, std::span<const int32_t> which) const {
    std::vector<int32_t> values;
    for (int32_t i : which)
      values.push_back(labels[static_cast<size_t>(i)]);
    auto tensor = stream.tensor<int32_t>({static_cast<int64_t>(values.size())});
    tensor.upload(values);
    return tensor;
  }
};

/// The part of these images whose largest logit is that of their label.
double accuracy(const Network &network, const Stream &stream, const Digits &digits,
                std::span<const int32_t> which) {
  autograd::NoGrad quiet;
  Variable logits = network(digits.batch(stream, which));
  auto values = TensorOf<float>(logits.value()).download();
  size_t right = 0;
  for (size_t row = 0; row < which.size(); ++row) {
    auto first = values.begin() + static_cast<std::ptrdiff_t>(row) * kClasses;
    auto guess = std::max_element(first, first + kClasses) - first;
    right += guess == digits.labels[static_cast<size_t>(which[row])];
  }
  return static_cast<double>(right) / static_cast<double>(which.size());
}

struct Options {
  std::string data = TILE_EXAMPLES_DATA "/digits.safetensors", device = "auto", curve, save;
  int64_t epochs = 20;
};

int train(const Options &options) {
  Stream stream = Device::open(options.device).stream();
  Digits digits(stream, options.data);
  ops::Generator generator{.seed = 1};
  Network network(stream, generator);
  nn::AdamW optimizer(network, {{.rate = 3e-3}});
  std::mt19937 random(1);
  std::printf("%zu images to learn from, %zu to test, %lld parameters, on %s\n",
              digits.training.size(), digits.test.size(),
              static_cast<long long>(network.parameterCount()), stream.device().name().c_str());

  auto batches = static_cast<int64_t>(digits.training.size()) / kBatch;
  Progress progress(options.epochs * batches, "images", kBatch);
  LossCurve curve("cross-entropy of handwritten digits");
  for (int64_t step = 0; step < options.epochs * batches; ++step) {
    if (step % batches == 0)
      std::ranges::shuffle(digits.training, random);
    auto which =
        std::span(digits.training).subspan(static_cast<size_t>(step % batches * kBatch), kBatch);
    Variable loss =
        autograd::crossEntropy(network(digits.batch(stream, which)), digits.answers(stream, which));
    double value = TensorOf<float>(loss.value()).download()[0];
    loss.backward();
    optimizer.step();
    progress.show(step + 1, value);
    curve.add(step + 1, value);
  }
  if (!options.curve.empty())
    curve.write(options.curve);
  if (!options.save.empty())
    nn::saveParameters(options.save, network);
  double reached = accuracy(network, stream, digits, digits.test);
  std::printf(
      "recognised: %.1f %% of what was learnt from, %.1f %% of the test (%.0f %% is asked)\n",
      100 * accuracy(network, stream, digits, digits.training), 100 * reached, 100 * kGoal);
  return reached >= kGoal ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Trains a small network on handwritten digits.");
  app.add_option("--data", options.data, "the images and labels");
  app.add_option("--epochs", options.epochs, "how often each image is learnt from")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}));
  app.add_option("--device", options.device, "auto, cuda:0, virtual, virtual:sm_90a");
  app.add_option("--curve", options.curve, "draws the loss into this SVG file");
  app.add_option("--save", options.save, "writes the parameters into this safetensors file");
  CLI11_PARSE(app, argc, argv);
  try {
    return train(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
