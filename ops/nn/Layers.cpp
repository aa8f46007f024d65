// The layers: their initial parameters, and their functions.
#include <tile/nn/Layers.h>

#include "ops/nn/Layers.h"

#include <tile/autograd/Activations.h>
#include <tile/autograd/Embedding.h>
#include <tile/autograd/Norm.h>
#include <tile/autograd/Ops.h>
#include <tile/ops/Arithmetic.h>

#include <cmath>

namespace tile::nn {

void detail::requireSize(const char *layer, const char *what, int64_t size, Loc loc) {
  if (size < 1)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                std::string(layer) + ": " + what + " is " + std::to_string(size) +
                    "; it must be at least 1",
                loc);
}

namespace {

using detail::requireSize;

using ExtentsOf = std::initializer_list<int64_t>;

Variable random(const Stream &stream, ops::Generator &generator, DType dtype, ExtentsOf extents,
                double deviation, Loc loc) {
  Stream queue = stream;
  Tensor values = ops::randn(queue, generator, dtype, extents, 0, deviation, loc);
  return Variable(stream, values, autograd::kTrained, loc);
}

Variable filled(const Stream &stream, DType dtype, int64_t extent, double value, Loc loc) {
  Stream queue = stream;
  Tensor values = stream.tensor(dtype, std::span(&extent, 1));
  ops::fill(queue, value, values, loc);
  return Variable(stream, values, autograd::kTrained, loc);
}

Variable activated(Activation activation, const Variable &x, Loc loc) {
  switch (activation) {
  case Activation::Relu:
    return autograd::relu(x, loc);
  case Activation::Gelu:
    return autograd::gelu(x, loc);
  case Activation::GeluTanh:
    return autograd::geluTanh(x, loc);
  case Activation::Silu:
    return autograd::silu(x, loc);
  case Activation::Swiglu:
    return autograd::swigluHalves(x, loc);
  }
  return x;
}

} // namespace

Linear::Linear(const Stream &stream, ops::Generator &generator, int64_t inputs, int64_t outputs,
               const LinearOptions &options, Loc loc) {
  requireSize("Linear", "inputs", inputs, loc);
  requireSize("Linear", "outputs", outputs, loc);
  double deviation = options.deviation.value_or(1 / std::sqrt(static_cast<double>(inputs)));
  weight = random(stream, generator, options.dtype, {outputs, inputs}, deviation, loc);
  if (options.bias)
    bias = filled(stream, options.dtype, outputs, 0, loc);
}
Variable Linear::operator()(const Variable &x, Loc loc) const {
  return autograd::linear(x, weight, bias, {}, loc);
}
void Linear::members(Members &add) const {
  add("weight", weight);
  add("bias", bias);
}

Embedding::Embedding(const Stream &stream, ops::Generator &generator, int64_t rows, int64_t width,
                     const EmbeddingOptions &options, Loc loc) {
  requireSize("Embedding", "rows", rows, loc);
  requireSize("Embedding", "width", width, loc);
  table = random(stream, generator, options.dtype, {rows, width}, options.deviation, loc);
}
Variable Embedding::operator()(const Tensor &indices, Loc loc) const {
  return autograd::embedding(table, indices, loc);
}
void Embedding::members(Members &add) const { add("table", table); }

LayerNorm::LayerNorm(const Stream &stream, int64_t width, const NormOptions &options, Loc loc)
    : epsilon(options.epsilon) {
  requireSize("LayerNorm", "width", width, loc);
  weight = filled(stream, options.dtype, width, 1, loc);
  if (options.bias)
    bias = filled(stream, options.dtype, width, 0, loc);
}
Variable LayerNorm::operator()(const Variable &x, Loc loc) const {
  return autograd::layernorm(x, weight, bias, epsilon, loc);
}
std::array<Variable, 2> LayerNorm::ofSum(const Variable &x, const Variable &residual,
                                         Loc loc) const {
  return autograd::addLayernorm(x, residual, weight, bias, epsilon, loc);
}
void LayerNorm::members(Members &add) const {
  add("weight", weight);
  add("bias", bias);
}

RmsNorm::RmsNorm(const Stream &stream, int64_t width, const NormOptions &options, Loc loc)
    : epsilon(options.epsilon) {
  requireSize("RmsNorm", "width", width, loc);
  weight = filled(stream, options.dtype, width, 1, loc);
}
Variable RmsNorm::operator()(const Variable &x, Loc loc) const {
  return autograd::rmsnorm(x, weight, epsilon, loc);
}
std::array<Variable, 2> RmsNorm::ofSum(const Variable &x, const Variable &residual, Loc loc) const {
  return autograd::addRmsnorm(x, residual, weight, epsilon, loc);
}
void RmsNorm::members(Members &add) const { add("weight", weight); }

Mlp::Mlp(const Stream &stream, ops::Generator &generator, int64_t width, int64_t hidden,
         const MlpOptions &options, Loc loc)
    : up(stream, generator, width, options.activation == Activation::Swiglu ? 2 * hidden : hidden,
         options.up, loc),
      down(stream, generator, hidden, width, options.down, loc), activation(options.activation) {}
Variable Mlp::operator()(const Variable &x, Loc loc) const {
  return down(activated(activation, up(x, loc), loc), loc);
}
void Mlp::members(Members &add) const {
  add("up", up);
  add("down", down);
}

} // namespace tile::nn
