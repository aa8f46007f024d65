#include <tile/autograd/GradCheck.h>

#include "ops/autograd/Node.h"

#include <tile/autograd/Ops.h>

#include <cmath>
#include <random>

namespace tile::autograd {
namespace {

using Function = std::function<Variable(std::span<const Variable>)>;

std::vector<double> numbers(const Tensor &tensor) { return TensorOf<double>(tensor).download(); }

/// Weights in [-1, 1), away from 0, one for each element.
std::vector<double> weightsFor(const Variable &y, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.25, 1);
  std::vector<double> weights(static_cast<size_t>(y.value().numel()));
  for (double &weight : weights)
    weight = (random() & 1 ? 1 : -1) * uniform(random);
  return weights;
}

double weighted(const Variable &y, const std::vector<double> &weights) {
  std::vector<double> values = numbers(y.value());
  double total = 0;
  for (size_t i = 0; i < values.size(); ++i)
    total += values[i] * weights[i];
  return total;
}

/// A trained input's value with one element changed at a time.
class Nudge {
public:
  explicit Nudge(const Variable &input) : tensor_(input.value()), values_(numbers(tensor_)) {}
  ~Nudge() { upload(); }
  size_t size() const { return values_.size(); }
  template <class F> double slope(size_t element, double step, F f) {
    double before = values_[element];
    auto at = [&](double value) {
      values_[element] = value;
      upload();
      return f();
    };
    double above = at(before + step), below = at(before - step);
    values_[element] = before;
    return (above - below) / (2 * step);
  }

private:
  void upload() const { TensorOf<double>(tensor_).upload(values_); }
  Tensor tensor_;
  std::vector<double> values_;
};

} // namespace

std::string gradcheck(const Function &f, std::vector<Variable> inputs, GradCheckOptions options,
                      Loc loc) {
  std::vector<Variable> trained;
  for (const Variable &input : inputs)
    if (input && input.requiresGrad())
      trained.push_back(input);
  for (const Variable &input : trained)
    if (input.dtype() != f64)
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "gradcheck: an input is " + input.str() + "; differences need f64", loc);

  auto inDoubles = [&] {
    Variable y = f(inputs);
    return y.dtype() == f64 ? y : cast(y, f64, loc);
  };
  Variable y = inDoubles();
  std::vector<double> weights = weightsFor(y, options.seed);
  auto seed = y.stream().tensor<double>({y.value().extents().begin(), y.value().extents().end()});
  seed.upload(weights);
  Tensor seeds[] = {seed};
  std::vector<Tensor> gradients = grad({&y, 1}, trained, seeds, {}, loc);

  std::string worst;
  double worstExcess = 0;
  for (size_t i = 0; i < trained.size(); ++i) {
    Nudge nudge(trained[i]);
    std::vector<double> gradient =
        gradients[i] ? numbers(gradients[i]) : std::vector<double>(nudge.size(), 0.0);
    for (size_t element = 0; element < nudge.size(); ++element) {
      NoGrad quiet;
      double expected =
          nudge.slope(element, options.step, [&] { return weighted(inDoubles(), weights); });
      double bound = options.absolute + options.relative * std::abs(expected);
      double excess = std::abs(gradient[element] - expected) / bound;
      if (excess <= 1 && !std::isnan(excess))
        continue;
      if (excess > worstExcess || std::isnan(excess) || worst.empty()) {
        worstExcess = excess;
        worst = "input " + std::to_string(i) + ", element " + std::to_string(element) +
                ": the gradient is " + std::to_string(gradient[element]) + ", differences give " +
                std::to_string(expected);
      }
    }
  }
  return worst;
}

} // namespace tile::autograd
