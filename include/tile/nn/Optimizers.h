// Optimizers of modules: what they keep of each parameter, and their steps.
//
//   nn::AdamW optimizer(model, {.rate = 3e-4});
//   for (...) {
//     loss(model, batch).backward();
//     nn::clipGradients(model, 1.0);
//     optimizer.step();
//   }
//
// Steps are work of the parameters' stream; nobody waits. Memory is asked for when an optimizer is
// made, not by its steps.
#pragma once

#include <tile/SafeTensors.h>
#include <tile/nn/Module.h>
#include <tile/ops/Optimizers.h>

namespace tile::nn {

class Optimizer {
public:
  virtual ~Optimizer() = default;
  /// Changes every parameter that has a gradient, and forgets the gradients.
  void step(Loc loc = Loc::here());
  /// How many steps were made.
  int64_t steps() const { return steps_; }
  /// The learning rate of the steps to come.
  virtual void setRate(double rate) = 0;

  /// What it keeps, as tensors that a file can hold: "m.hidden.weight", ... They share its memory.
  std::vector<NamedTensor> state() const;
  /// For files: continue after so many steps, whose state has been put into the tensors of state()
  /// and the parameters.
  void continueAfter(int64_t steps, Loc loc = Loc::here());

protected:
  /// A parameter with what belongs to it, by name.
  struct Slot {
    NamedVariable parameter;
    std::vector<NamedTensor> kept;
    uint64_t version = 0; ///< Tensor::version() of the parameter that `kept` belongs to
  };
  Optimizer(const Module &module, Loc loc);
  virtual void update(Slot &slot, Loc loc) = 0;
  /// A tensor of zeros like the parameter, in f32 (f64 of f64 parameters), kept under this name.
  void keepZeros(Slot &slot, const char *name, Loc loc);
  std::vector<Slot> &slots() { return slots_; }

private:
  std::vector<Slot> slots_;
  int64_t steps_ = 0;
};

/// Stochastic gradient descent, as ops::sgd; it keeps a velocity if there is a momentum.
class Sgd : public Optimizer {
public:
  explicit Sgd(const Module &module, const ops::SgdOptions &options = {}, Loc loc = Loc::here());
  void setRate(double rate) override { options_.rate = rate; }

private:
  void update(Slot &slot, Loc loc) override;
  ops::SgdOptions options_;
};

struct AdamWOptions : ops::AdamWOptions {
  /// Whether biases and weights of norms, which have one dimension, decay like matrices.
  bool decaysVectors = false;
};
/// AdamW, as ops::adamW. It keeps f32 masters of 16-bit parameters, which get the steps. They are
/// updated when somebody else changes the parameters in place, as loadParameters does.
class AdamW : public Optimizer {
public:
  explicit AdamW(const Module &module, const AdamWOptions &options = {}, Loc loc = Loc::here());
  void setRate(double rate) override { options_.rate = rate; }

private:
  void update(Slot &slot, Loc loc) override;
  AdamWOptions options_;
};

/// Scales all gradients so that the square root of the sum of all their squares is at most
/// `largest`. Returns what it was, one f32 element; nobody waits. Error: InvalidArgument if no
/// parameter has a gradient.
Tensor clipGradients(const Module &module, double largest, Loc loc = Loc::here());

/// A rate that rises linearly from 0 over the first `warmup` steps, then falls along half a cosine
/// from `peak` to `least`, where it stays from step `total` on. `step` counts from 0: the rate of
/// the step after so many.
double cosineRate(int64_t step, int64_t warmup, int64_t total, double peak, double least = 0);

} // namespace tile::nn
