#include <tile/autograd/Variable.h>

#include "ops/autograd/Engine.h"

#include <tile/ops/Arithmetic.h>

namespace tile::autograd {
namespace {

bool &recording() {
  thread_local bool isOn = true;
  return isOn;
}

[[noreturn]] void refuse(ErrorCode code, const std::string &message, Loc loc = {}) {
  throw Error(Fault::User, code, message, loc);
}

bool isDifferentiable(DType dtype) {
  return dtype == f16 || dtype == bf16 || dtype == f32 || dtype == f64;
}

/// The gradient that a walk begins with: `seed`, or 1 for one element.
Tensor seedOf(const Variable &output, const Tensor &seed, Loc loc) {
  const Tensor &value = output.value();
  if (!seed) {
    if (value.numel() != 1)
      refuse(ErrorCode::InvalidShape,
             "backward() of " + output.str() + ", which has " + std::to_string(value.numel()) +
                 " elements: gradients are of one number; sum it up, or give a seed of its extents",
             loc);
    Stream stream = output.stream();
    Tensor one = stream.tensor(value.dtype(), value.extents());
    ops::fill(stream, 1, one, loc);
    return one;
  }
  if (!detail::Metadata::of(value).fits(seed) || seed.deviceHandle() != value.deviceHandle())
    refuse(ErrorCode::InvalidShape,
           "the seed is " + detail::placedText(seed) + ", but the variable is " + output.str() +
               ": they must be alike",
           loc);
  return seed;
}

detail::Root rootOf(const Variable &output, const Tensor &seed, Loc loc) {
  if (!output)
    refuse(ErrorCode::InvalidHandle, "backward() of a variable that is none", loc);
  detail::Edge edge = detail::edgeOf(output.shared());
  if (!edge.node)
    refuse(ErrorCode::InvalidArgument,
           "backward() of " + output.str() +
               ", which leads to no trained variable, or was computed in the scope of a NoGrad",
           loc);
  return {edge, seedOf(output, seed, loc)};
}

} // namespace

Variable::Variable(const Stream &stream, Tensor value, Role role, Loc loc) {
  stream.state(); // InvalidHandle
  if (!value)
    refuse(ErrorCode::InvalidHandle, "a variable needs a tensor", loc);
  if (role == kTrained && !isDifferentiable(value.dtype()))
    refuse(ErrorCode::InvalidArgument,
           "a trained variable of " + detail::textOf(value) +
               ": f16, bf16, f32 or f64 has gradients",
           loc);
  state_ = std::make_shared<detail::VariableState>();
  state_->stream = stream;
  state_->value = std::move(value);
  state_->role = role;
}

detail::VariableState &Variable::state(const char *use) const {
  if (!state_)
    refuse(ErrorCode::InvalidHandle, std::string(use) + " of a variable that is none");
  return *state_;
}

const Tensor &Variable::value() const { return state("value").value; }
const Stream &Variable::stream() const { return state("stream").stream; }

std::string Variable::str() const { return detail::placedText(value()); }

bool Variable::requiresGrad() const {
  const detail::VariableState &own = state("requiresGrad");
  return own.from.node || own.role == kTrained;
}
bool Variable::isLeaf() const { return !state("isLeaf").from.node; }

Variable Variable::detach() const { return Variable(stream(), value()); }

const Tensor &Variable::inPlace(Loc loc) const {
  detail::VariableState &own = state("inPlace");
  if (isRecording() && requiresGrad())
    refuse(
        ErrorCode::InvalidArgument,
        "a change in place of " + str() +
            ", which wants a gradient: backward() could not see it; do it in the scope of a NoGrad",
        loc);
  own.value.markChanged();
  return own.value;
}

const Tensor &Variable::grad() const { return state("grad").grad; }
void Variable::clearGrad() const { state("clearGrad").grad = Tensor(); }

void Variable::setGrad(Tensor grad, Loc loc) const {
  detail::VariableState &own = state("setGrad");
  if (grad && (!detail::Metadata::of(own.value).fits(grad) ||
               grad.deviceHandle() != own.value.deviceHandle()))
    refuse(ErrorCode::InvalidShape,
           "the gradient is " + detail::placedText(grad) + ", but the variable is " + str(), loc);
  own.grad = grad ? detail::ownTensor(own.stream, std::move(grad)) : Tensor();
}

void Variable::backward(BackwardOptions options, Loc loc) const {
  backward(Tensor(), options, loc);
}

void Variable::backward(const Tensor &seed, BackwardOptions options, Loc loc) const {
  detail::Root root = rootOf(*this, seed, loc);
  detail::walk(
      {.roots = {&root, 1}, .targets = {}, .retainGraph = options.retainGraph, .where = loc});
}

void Variable::hook(std::function<Tensor(const Tensor &)> hook) const {
  detail::VariableState &own = state("hook");
  if (own.from.node)
    own.from.node->hooks[static_cast<size_t>(own.from.slot)].push_back(std::move(hook));
  else
    own.hooks.push_back(std::move(hook));
}

void Variable::afterGrad(std::function<void(const Variable &)> hook) const {
  state("afterGrad").afterGrad.push_back(std::move(hook));
}

NoGrad::NoGrad() : before_(std::exchange(recording(), false)) {}
NoGrad::~NoGrad() { recording() = before_; }
WithGrad::WithGrad() : before_(std::exchange(recording(), true)) {}
WithGrad::~WithGrad() { recording() = before_; }
bool isRecording() { return recording(); }

FindAnomalies::FindAnomalies() : before_(std::exchange(detail::findsAnomalies(), true)) {}
FindAnomalies::~FindAnomalies() { detail::findsAnomalies() = before_; }

std::vector<Tensor> grad(std::span<const Variable> outputs, std::span<const Variable> inputs,
                         std::span<const Tensor> seeds, BackwardOptions options, Loc loc) {
  std::vector<detail::Root> roots;
  for (size_t i = 0; i < outputs.size(); ++i)
    roots.push_back(rootOf(outputs[i], i < seeds.size() ? seeds[i] : Tensor(), loc));
  std::vector<detail::Edge> targets;
  for (const Variable &input : inputs) {
    targets.push_back(detail::edgeOf(input.shared()));
    if (!targets.back().node)
      refuse(ErrorCode::InvalidArgument,
             "grad() with respect to " + (input ? input.str() : "no variable") +
                 ", which wants no gradient: make it a trained variable",
             loc);
  }
  return detail::walk({.roots = roots,
                       .targets = targets,
                       .fillsLeaves = false,
                       .retainGraph = options.retainGraph,
                       .where = loc});
}

} // namespace tile::autograd
