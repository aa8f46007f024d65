#include <tile/ops/Optimizers.h>

#include "ops/NewTensor.h"

#include <tile/ops/Map.h>

#include <cmath>
#include <initializer_list>

namespace tile::ops {

namespace {

/// The dtypes of weights, their gradient, and what is kept for them.
void checkDtypes(const Arguments &arguments, Named weights, Named gradient,
                 std::initializer_list<Named> kept) {
  for (Named arg : {weights, gradient})
    arguments.dtypeIn(arg, {f16, bf16, f32, f64});
  for (Named arg : kept)
    if (weights.operand.dtype() == f64)
      arguments.dtypeIn(arg, {f64});
    else
      arguments.dtypeIn(arg, {f32});
  for (Named arg : kept)
    arguments.sameExtents(arg, weights);
  arguments.sameExtents(gradient, weights);
}

struct PlainStep {
  Value operator()(Value w, Value g, Value rate, Value decay) const {
    return w - rate * (g + decay * w);
  }
};
struct MomentumStep {
  std::array<Value, 2> operator()(Value w, Value velocity, Value g, Value rate, Value decay,
                                  Value momentum) const {
    Value next = momentum * velocity + (g + decay * w);
    return {w - rate * next, next};
  }
};

/// The numbers of a step of AdamW that do not depend on the element.
struct AdamStep {
  static std::array<Value, 3> next(Value w, Value g, Value m, Value v, Value beta1, Value beta2,
                                   Value rate, Value scaleV, Value epsilon, Value keep) {
    Value mean = beta1 * m + (1.0f - beta1) * g;
    Value square = beta2 * v + (1.0f - beta2) * (g * g);
    // rate holds 1 / (1 - beta1^step), scaleV is 1 / (1 - beta2^step), keep is 1 - rate * weightDecay.
    return {w * keep - rate * mean / (sqrt(square * scaleV) + epsilon), mean, square};
  }
};
struct AdamWStep {
  std::array<Value, 3> operator()(Value w, Value m, Value v, Value g, Value beta1, Value beta2,
                                  Value rate, Value scaleV, Value epsilon, Value keep) const {
    return AdamStep::next(w, g, m, v, beta1, beta2, rate, scaleV, epsilon, keep);
  }
};
struct AdamWMasterStep {
  std::array<Value, 4> operator()(Value master, Value m, Value v, Value g, Value beta1, Value beta2,
                                  Value rate, Value scaleV, Value epsilon, Value keep) const {
    auto [w, mean, square] =
        AdamStep::next(master, g, m, v, beta1, beta2, rate, scaleV, epsilon, keep);
    return {w, w, mean, square};
  }
};

struct Rate {
  const char *name;
  double value;
};
void checkNotNegative(const Arguments &arguments, std::initializer_list<Rate> rates) {
  for (auto [name, value] : rates)
    if (!(value >= 0 && std::isfinite(value)))
      arguments.fail(ErrorCode::InvalidArgument, std::string(name) + " is " +
                                                     std::to_string(value) +
                                                     "; a finite number from 0 on is expected");
}

} // namespace

void sgd(const Stream &stream, const Operand &weights, const Operand &gradient,
         const Operand &velocity, const SgdOptions &options, Loc loc) {
  Arguments arguments("sgd", {stream, loc});
  CallSite site(stream, loc);
  checkNotNegative(arguments, {{"rate", options.rate},
                               {"momentum", options.momentum},
                               {"weightDecay", options.weightDecay}});
  if (!velocity) {
    if (options.momentum != 0)
      arguments.fail(ErrorCode::InvalidArgument, "momentum is " + std::to_string(options.momentum) +
                                                     ", but there is no velocity: give a tensor");
    checkDtypes(arguments, {"weights", weights}, {"gradient", gradient}, {});
    return detail::mapNamed({"sgd", {"weights", "weights", "gradient", "rate", "weightDecay"}},
                            site, PlainStep(), std::array{weights}, weights, gradient, options.rate,
                            options.weightDecay);
  }
  checkDtypes(arguments, {"weights", weights}, {"gradient", gradient}, {{"velocity", velocity}});
  detail::mapNamed({"sgd",
                    {"weights", "velocity", "weights", "velocity", "gradient", "rate",
                     "weightDecay", "momentum"}},
                   site, MomentumStep(), std::array{weights, velocity}, weights, velocity, gradient,
                   options.rate, options.weightDecay, options.momentum);
}

void adamW(const Stream &stream, const Operand &weights, const Operand &gradient, const Operand &m,
           const Operand &v, int64_t step, const AdamWOptions &options, Loc loc) {
  adamW(stream, weights, gradient, m, v, Operand(), step, options, loc);
}

void adamW(const Stream &stream, const Operand &weights, const Operand &gradient, const Operand &m,
           const Operand &v, const Operand &master, int64_t step, const AdamWOptions &options,
           Loc loc) {
  Arguments arguments("adamW", {stream, loc});
  Named w{"weights", weights}, g{"gradient", gradient};
  if (master)
    checkDtypes(arguments, w, g, {{"m", m}, {"v", v}, {"master", master}});
  else
    checkDtypes(arguments, w, g, {{"m", m}, {"v", v}});
  if (step < 1)
    arguments.fail(ErrorCode::InvalidArgument,
                   "step is " + std::to_string(step) + "; steps count from 1");
  for (double beta : {options.beta1, options.beta2})
    if (!(beta >= 0 && beta < 1))
      arguments.fail(ErrorCode::InvalidArgument, "beta1 is " + std::to_string(options.beta1) +
                                                     ", beta2 " + std::to_string(options.beta2) +
                                                     "; both must be in 0 .. 1, below 1");
  checkNotNegative(
      arguments,
      {{"rate", options.rate}, {"epsilon", options.epsilon}, {"weightDecay", options.weightDecay}});
  CallSite site(stream, loc);
  double count = static_cast<double>(step);
  double rate = options.rate / (1 - std::pow(options.beta1, count));
  double scaleV = 1 / (1 - std::pow(options.beta2, count));
  double keep = 1 - options.rate * options.weightDecay;
  auto run = [&](const detail::MapNames &names, auto f, const auto &outputs, const Operand &from) {
    detail::mapNamed(names, site, f, outputs, from, m, v, gradient, options.beta1, options.beta2,
                     rate, scaleV, options.epsilon, keep);
  };
  if (master)
    run({"adamW",
         {"weights", "master", "m", "v", "master", "m", "v", "gradient", "beta1", "beta2", "rate",
          "scaleV", "epsilon", "keep"}},
        AdamWMasterStep(), std::array{weights, master, m, v}, master);
  else
    run({"adamW",
         {"weights", "m", "v", "weights", "m", "v", "gradient", "beta1", "beta2", "rate", "scaleV",
          "epsilon", "keep"}},
        AdamWStep(), std::array{weights, m, v}, weights);
}

} // namespace tile::ops
