// Steps of optimizers by name, which change their inputs in place.
#include "ops/byname/Entry.h"

#include <tile/ops/Optimizers.h>

#include <numeric>

namespace tile::ops {
namespace {

Specs noOutputs(Tensors, const OpSettings &) { return {}; }

std::vector<OpSetting> sgdSettings() {
  const SgdOptions options;
  return {OpSetting::number("rate", options.rate), OpSetting::number("momentum", options.momentum),
          OpSetting::number("weight_decay", options.weightDecay)};
}

SgdOptions sgdOptionsOf(const OpSettings &settings) {
  SgdOptions options;
  options.rate = settings.number("rate");
  options.momentum = settings.number("momentum");
  options.weightDecay = settings.number("weight_decay");
  return options;
}

std::vector<OpSetting> adamWSettings() {
  const AdamWOptions options;
  return {OpSetting::integer("step", 1).from(1),
          OpSetting::number("rate", options.rate),
          OpSetting::number("beta1", options.beta1),
          OpSetting::number("beta2", options.beta2),
          OpSetting::number("epsilon", options.epsilon),
          OpSetting::number("weight_decay", options.weightDecay)};
}

AdamWOptions adamWOptionsOf(const OpSettings &settings) {
  AdamWOptions options;
  options.rate = settings.number("rate");
  options.beta1 = settings.number("beta1");
  options.beta2 = settings.number("beta2");
  options.epsilon = settings.number("epsilon");
  options.weightDecay = settings.number("weight_decay");
  return options;
}

const bool steps =
    registerOp({.name = "sgd",
                .summary = "a step of gradient descent: weights, gradient, velocity",
                .inputs = 2,
                .optionalInputs = 1,
                .changed = {0, 2},
                .settings = sgdSettings(),
                .example = [](const OpSettings &settings) { return matrices(settings, 2); },
                .outputs = noOutputs,
                .run =
                    [](const Stream &stream, Tensors in, Tensors, const OpSettings &settings) {
                      sgd(stream, in[0], in[1], given(in, 2), sgdOptionsOf(settings));
                    }}) &&
    registerOp({.name = "adamw",
                .summary = "a step of AdamW: weights, gradient, m, v, master weights",
                .inputs = 4,
                .optionalInputs = 1,
                .changed = {0, 2, 3, 4},
                .settings = adamWSettings(),
                .example =
                    [](const OpSettings &settings) {
                      Specs specs = matrices(settings, 4);
                      if (specs[0].dtype != f64)
                        specs[2].dtype = specs[3].dtype = f32;
                      return specs;
                    },
                .outputs = noOutputs,
                .run =
                    [](const Stream &stream, Tensors in, Tensors, const OpSettings &settings) {
                      adamW(stream, in[0], in[1], in[2], in[3], given(in, 4),
                            settings.integer("step"), adamWOptionsOf(settings));
                    }});

constexpr int kMostTensors = 48;

std::vector<Operand> operandsOf(Tensors tensors) { return {tensors.begin(), tensors.end()}; }

/// The numbers behind the first.
std::vector<int> behindFirst(int count) {
  std::vector<int> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

const bool norms =
    registerOp({.name = "global_norm",
                .summary = "the square root of the sum of squares of all elements of all tensors",
                .inputs = 1,
                .optionalInputs = kMostTensors - 1,
                .example = [](const OpSettings &settings) { return matrices(settings, 1); },
                .outputs =
                    [](Tensors, const OpSettings &) {
                      return Specs{{f32, {}}};
                    },
                .run = [](const Stream &stream, Tensors in, Tensors out,
                          const OpSettings &) { globalNorm(stream, operandsOf(in), out[0]); }}) &&
    registerOp({.name = "clip_by_norm",
                .summary = "scales tensors by min(1, largest / norm): the norm, then the tensors",
                .inputs = 2,
                .optionalInputs = kMostTensors - 1,
                .changed = behindFirst(kMostTensors),
                .settings = {OpSetting::number("largest", 1)},
                .example =
                    [](const OpSettings &settings) {
                      Specs specs = matrices(settings, 1);
                      specs.insert(specs.begin(), {f32, {}});
                      return specs;
                    },
                .outputs = noOutputs,
                .run =
                    [](const Stream &stream, Tensors in, Tensors, const OpSettings &settings) {
                      clipByNorm(stream, operandsOf(in.subspan(1)), in[0],
                                 settings.number("largest"));
                    }});

} // namespace
} // namespace tile::ops
