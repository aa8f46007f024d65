// Lesson 6: training of a small model. docs/tutorial/6-training.md explains it.
#include <tile/autograd/Activations.h>
#include <tile/autograd/Ops.h>
#include <tile/nn/Files.h>
#include <tile/nn/Layers.h>
#include <tile/nn/Optimizers.h>
#include <tile/tile.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

using namespace tile;
using autograd::Variable;

// [model]
struct Curve : nn::Module {
  nn::Linear hidden, output;

  Curve(const Stream &stream, ops::Generator &generator)
      : hidden(stream, generator, 1, 32, {.deviation = 3}), output(stream, generator, 32, 1) {}
  Variable operator()(const Variable &x) const { return output(autograd::silu(hidden(x))); }
  void members(nn::Members &add) const override { add("hidden", hidden), add("output", output); }
};
// [end]

// [data]
constexpr int64_t kPoints = 64;
/// Points of a curve: x from -1 to 1, and what a model is to make of them.
struct Points {
  Variable x, y;
  explicit Points(const Stream &stream) {
    std::vector<float> from(kPoints), to(kPoints);
    for (int64_t i = 0; i < kPoints; ++i) {
      from[i] = 2.0f * i / (kPoints - 1) - 1;
      to[i] = std::sin(3 * from[i]);
    }
    auto x = stream.tensor<float>({kPoints, 1}), y = stream.tensor<float>({kPoints, 1});
    x.upload(from), y.upload(to);
    this->x = Variable(stream, x), this->y = Variable(stream, y);
  }
};
static Variable meanSquare(const Variable &x, const Variable &y) {
  Variable error = autograd::subtract(x, y);
  return autograd::mean(autograd::multiply(error, error));
}
static float number(const Variable &x) { return TensorOf<float>(x.value()).download()[0]; }
// [end]

int main() {
  Stream stream = Device::best().stream();
  Points points(stream);

  // [start]
  ops::Generator generator{.seed = 1};
  Curve model(stream, generator);
  for (const nn::NamedVariable &parameter : model.parameters())
    std::printf("%-13s %s\n", parameter.name.c_str(), parameter.variable.str().c_str());
  // [end]

  // [loop]
  constexpr int kSteps = 100;
  nn::AdamW optimizer(model, {{.weightDecay = 0}});
  for (int step = 0; step < kSteps; ++step) {
    optimizer.setRate(nn::cosineRate(step, 5, kSteps, 0.1));
    Variable loss = meanSquare(model(points.x), points.y);
    loss.backward();
    nn::clipGradients(model, 1.0);
    optimizer.step();
    if (step % 25 == 0)
      std::printf("step %3d: loss %.3f\n", step, number(loss));
  }
  autograd::NoGrad quiet; // from here on nothing is recorded
  float loss = number(meanSquare(model(points.x), points.y));
  std::printf("trained:  loss below 0.001: %s\n", loss < 0.001f ? "yes" : "no");
  // [end]

  // [file]
  std::string path = (std::filesystem::temp_directory_path() / "lesson_6.safetensors").string();
  nn::saveParameters(path, model);
  Curve copy(stream, generator); // other random numbers
  nn::loadParameters(path, copy);
  bool isSame = number(meanSquare(copy(points.x), points.y)) == loss;
  std::printf("read back: the loss is %s\n", isSame ? "the same" : "another");
  std::filesystem::remove(path);
  // [end]
  return loss < 0.001f && isSame ? 0 : 1;
}
