#include "ops/autograd/Node.h"

#include <tile/ops/Arithmetic.h>

#include <atomic>

namespace tile::autograd {
namespace detail {
namespace {

std::atomic<size_t> nodeCount = 0;

std::string shapeText(DType dtype, std::span<const int64_t> extents) {
  std::string text = nameOf(dtype);
  for (size_t dim = 0; dim < extents.size(); ++dim)
    text += (dim ? "," : "[") + std::to_string(extents[dim]);
  return text + (extents.empty() ? "[]" : "]");
}

/// Lets go of a node's inputs. A graph may be a chain of any length: nodes that end here are taken apart one after the
/// other, not one inside the other.
void letGo(std::vector<Edge> &edges) {
  thread_local std::vector<std::shared_ptr<Node>> *pending = nullptr;
  if (pending) {
    for (Edge &edge : edges)
      pending->push_back(std::move(edge.node));
    return;
  }
  std::vector<std::shared_ptr<Node>> list;
  pending = &list;
  for (Edge &edge : edges)
    list.push_back(std::move(edge.node));
  while (!list.empty()) {
    std::shared_ptr<Node> node = std::move(list.back());
    list.pop_back();
  }
  pending = nullptr;
}

/// Adds gradients to a trained leaf.
class LeafNode final : public Node {
public:
  explicit LeafNode(std::shared_ptr<VariableState> leaf)
      : Node("leaf", {}, leaf->stream, kLeafSequence), leaf_(std::move(leaf)) {
    outputs = {Metadata::of(leaf_->value)};
  }
  std::span<const GradientHook> hooksOf(size_t) const override { return leaf_->hooks; }
  std::vector<Tensor> run(std::vector<Tensor> gradients, std::vector<bool>) override {
    Tensor gradient = std::move(gradients[0]);
    Tensor &sum = leaf_->grad;
    if (!sum) {
      sum = ownTensor(stream, std::move(gradient));
    } else if (sum.isShared()) { // with somebody who keeps what it was
      sum = ops::add(stream, sum, gradient);
    } else {
      ops::add(stream, sum, gradient, sum);
      sum.markChanged();
    }
    for (const auto &hook : leaf_->afterGrad)
      hook(Variable(leaf_));
    return {};
  }

private:
  std::shared_ptr<VariableState> leaf_;
};

} // namespace

Tensor ownTensor(const Stream &stream, Tensor tensor) {
  if (tensor.isContiguous() && !tensor.isShared())
    return tensor;
  Stream own = stream;
  return ops::copy(own, tensor);
}

bool Metadata::fits(const Tensor &gradient) const {
  return gradient.dtype() == dtype &&
         std::equal(extents.begin(), extents.end(), gradient.extents().begin(),
                    gradient.extents().end());
}
std::string Metadata::str() const { return shapeText(dtype, extents); }
std::string textOf(const Tensor &tensor) { return shapeText(tensor.dtype(), tensor.extents()); }

std::string placedText(const Tensor &tensor) {
  return textOf(tensor) + "@" + tensor.device().name();
}

Node::Node(const char *op, Loc where, const Stream &stream, uint64_t sequence)
    : op(op), where(where), stream(stream), sequence(sequence) {
  ++nodeCount;
}

Node::~Node() {
  letGo(inputs);
  --nodeCount;
}

uint64_t nextSequence() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

void GradientSum::add(const Stream &stream, const Tensor &gradient) {
  if (!tensor_) {
    tensor_ = gradient;
  } else if (isOwn_) {
    ops::add(stream, tensor_, gradient, tensor_);
  } else {
    tensor_ = ops::add(stream, tensor_, gradient);
    isOwn_ = true;
  }
}

Tensor GradientSum::take() {
  isOwn_ = false;
  return std::exchange(tensor_, Tensor());
}

Edge edgeOf(const std::shared_ptr<VariableState> &variable) {
  if (!variable)
    return {};
  if (variable->from.node)
    return variable->from;
  if (variable->role != kTrained)
    return {};
  std::shared_ptr<Node> leaf = variable->leaf.lock();
  if (!leaf) {
    leaf = std::make_shared<LeafNode>(variable);
    variable->leaf = leaf;
  }
  return {leaf, 0};
}

} // namespace detail

size_t liveNodes() { return detail::nodeCount; }

} // namespace tile::autograd
