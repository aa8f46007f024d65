// The state that optimizers keep for each parameter, and their steps.
#include <tile/nn/Optimizers.h>

#include <tile/ops/Arithmetic.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tile::nn {
namespace {

bool isWide(DType dtype) { return dtype == f32 || dtype == f64; }

} // namespace

Optimizer::Optimizer(const Module &module, Loc loc) {
  for (const NamedVariable &parameter : module.parameters(loc))
    slots_.push_back({parameter, {}, parameter.variable.value().version()});
}

void Optimizer::keepZeros(Slot &slot, const char *name, Loc loc) {
  const Variable &variable = slot.parameter.variable;
  Stream stream = variable.stream();
  Tensor zeros = stream.tensor(variable.dtype() == f64 ? f64 : f32, variable.value().extents());
  ops::fill(stream, 0, zeros, loc);
  slot.kept.push_back({name, zeros});
}

void Optimizer::step(Loc loc) {
  autograd::NoGrad quiet;
  ++steps_;
  for (Slot &slot : slots_)
    if (slot.parameter.variable.grad()) {
      update(slot, loc);
      slot.parameter.variable.clearGrad();
    }
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> list;
  for (const Slot &slot : slots_)
    for (const auto &[name, tensor] : slot.kept)
      list.push_back({name + "." + slot.parameter.name, tensor});
  return list;
}

void Optimizer::continueAfter(int64_t steps, Loc loc) {
  if (steps < 0)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "an optimizer cannot continue after " + std::to_string(steps) + " steps", loc);
  steps_ = steps;
  for (Slot &slot : slots_)
    slot.version = slot.parameter.variable.value().version();
}

Sgd::Sgd(const Module &module, const ops::SgdOptions &options, Loc loc)
    : Optimizer(module, loc), options_(options) {
  if (options.momentum != 0)
    for (Slot &slot : slots())
      keepZeros(slot, "velocity", loc);
}

void Sgd::update(Slot &slot, Loc loc) {
  const Variable &w = slot.parameter.variable;
  Stream stream = w.stream();
  Tensor velocity = slot.kept.empty() ? Tensor() : slot.kept[0].tensor;
  ops::sgd(stream, w.inPlace(loc), w.grad(), velocity, options_, loc);
}

AdamW::AdamW(const Module &module, const AdamWOptions &options, Loc loc)
    : Optimizer(module, loc), options_(options) {
  for (Slot &slot : slots()) {
    keepZeros(slot, "m", loc);
    keepZeros(slot, "v", loc);
    const Variable &w = slot.parameter.variable;
    if (isWide(w.dtype()))
      continue;
    Stream stream = w.stream();
    slot.kept.push_back({"master", ops::copy(stream, w.value(), f32, loc)});
  }
}

void AdamW::update(Slot &slot, Loc loc) {
  const Variable &w = slot.parameter.variable;
  Stream stream = w.stream();
  ops::AdamWOptions options = options_;
  if (w.rank() < 2 && !options_.decaysVectors)
    options.weightDecay = 0;
  Tensor master = slot.kept.size() == 3 ? slot.kept[2].tensor : Tensor();
  if (master && slot.version != w.value().version())
    ops::copy(stream, w.value(), master, loc);
  ops::adamW(stream, w.inPlace(loc), w.grad(), slot.kept[0].tensor, slot.kept[1].tensor, master,
             steps(), options, loc);
  slot.version = w.value().version();
}

Tensor clipGradients(const Module &module, double largest, Loc loc) {
  std::vector<ops::Operand> gradients;
  Stream stream;
  for (const auto &[name, variable] : module.parameters(loc))
    if (variable.grad()) {
      stream = variable.stream();
      gradients.push_back(variable.grad());
    }
  if (gradients.empty())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "clipGradients: no parameter has a gradient; call backward() first", loc);
  Tensor norm = stream.tensor(f32, std::initializer_list<int64_t>{1});
  ops::globalNorm(stream, gradients, norm, loc);
  ops::clipByNorm(stream, gradients, norm, largest, loc);
  return norm;
}

double cosineRate(int64_t step, int64_t warmup, int64_t total, double peak, double least) {
  if (step < warmup)
    return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (step >= total)
    return least;
  double part = static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
  return least + (peak - least) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

} // namespace tile::nn
