// Functions of variables become nodes.
#include <tile/autograd/Function.h>

#include "ops/autograd/Node.h"

#include <algorithm>

namespace tile::autograd {

void Context::save(std::initializer_list<Tensor> tensors) {
  save(std::span(tensors.begin(), tensors.size()));
}
void Context::save(std::span<const Tensor> tensors) {
  saved_.clear();
  if (!isRecorded_)
    return;
  for (const Tensor &tensor : tensors)
    saved_.push_back({tensor, tensor.version()});
}

const Tensor &Context::saved(size_t i) const {
  if (i >= saved_.size())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                std::string(op_) + ": tensor " + std::to_string(i) + " is asked for, " +
                    std::to_string(saved_.size()) + " were saved in forward",
                where_);
  const Saved &saved = saved_[i];
  if (saved.tensor.version() != saved.version)
    throw Error(Fault::User, ErrorCode::Aliasing,
                std::string(op_) + ": tensor " + std::to_string(i) +
                    " that it saved for backward, " + detail::textOf(saved.tensor) +
                    ", was changed in place since: it had version " +
                    std::to_string(saved.version) + ", now " +
                    std::to_string(saved.tensor.version()) + "; change a copy of it",
                where_);
  return saved.tensor;
}

namespace detail {

class FunctionNode final : public Node {
public:
  FunctionNode(std::unique_ptr<AnyFunction> function, const char *op, Loc where,
               std::span<const Variable> variables, const Stream &stream)
      : Node(op, where, stream, nextSequence()), function_(std::move(function)) {
    for (const Variable &variable : variables)
      inputs.push_back(edgeOf(variable.shared()));
    context_.op_ = op;
    context_.stream_ = stream;
    context_.where_ = where;
    context_.isRecorded_ = isRecording() && std::ranges::any_of(inputs, [](const Edge &edge) {
                             return bool(edge.node);
                           });
    for (const Edge &edge : inputs)
      context_.needs_.push_back(context_.isRecorded_ && edge.node);
  }

  bool isRecorded() const { return context_.isRecorded_; }

  std::vector<Tensor> forward(std::span<const Tensor> values) {
    std::vector<Tensor> results = function_->forward(context_, values);
    for (const Tensor &result : results)
      if (result)
        outputs.push_back(Metadata::of(result));
      else
        throw Error(Fault::User, ErrorCode::InvalidHandle,
                    std::string(op) + ": forward returned no tensor for output " +
                        std::to_string(outputs.size()),
                    where);
    hooks.resize(results.size());
    return results;
  }
  std::vector<Tensor> run(std::vector<Tensor> gradients, std::vector<bool> needs) override {
    context_.needs_ = std::move(needs);
    NoGrad quiet;
    return function_->backward(context_, gradients);
  }
  void release() override {
    context_.saved_.clear();
    function_.reset();
  }
  bool isReleased() const override { return !function_; }

private:
  std::unique_ptr<AnyFunction> function_;
  Context context_;
};

/// The stream of all inputs.
static const Stream &commonStream(const char *op, Loc loc, std::span<const Variable> inputs) {
  const Stream *common = nullptr;
  for (const Variable &input : inputs) {
    if (!input)
      continue;
    if (common && input.stream().shared() != common->shared())
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  std::string(op) +
                      ": its inputs are variables of different streams; make them of one",
                  loc);
    common = &input.stream();
  }
  if (!common)
    throw Error(Fault::User, ErrorCode::InvalidHandle,
                std::string(op) + ": none of its inputs is a variable", loc);
  return *common;
}

std::vector<Variable> applyAny(std::unique_ptr<AnyFunction> function, const char *op, Loc loc,
                               std::span<const Variable> inputs) {
  const Stream &stream = commonStream(op, loc, inputs);
  auto node = std::make_shared<FunctionNode>(std::move(function), op, loc, inputs, stream);
  std::vector<Tensor> values;
  for (const Variable &input : inputs)
    values.push_back(input ? input.value() : Tensor());
  std::vector<Tensor> results = node->forward(values);
  std::vector<Variable> variables;
  for (size_t i = 0; i < results.size(); ++i) {
    Variable variable(stream, results[i], kInput, loc);
    if (node->isRecorded() && isFloat(results[i].dtype()))
      variable.shared()->from = {node, static_cast<int>(i)};
    variables.push_back(std::move(variable));
  }
  return variables;
}

} // namespace detail
} // namespace tile::autograd
