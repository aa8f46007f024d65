// The graph: nodes, each an op that was run, with edges to where its inputs came from.
#pragma once

#include <tile/autograd/Function.h>
#include <tile/autograd/Variable.h>

namespace tile::autograd::detail {

/// The dtype and the extents that a gradient must have.
struct Metadata {
  DType dtype = any;
  std::vector<int64_t> extents;

  static Metadata of(const Tensor &tensor) {
    return {tensor.dtype(), {tensor.extents().begin(), tensor.extents().end()}};
  }
  bool fits(const Tensor &gradient) const;
  std::string str() const;
};

using GradientHook = std::function<Tensor(const Tensor &)>;

class Node {
public:
  /// Leaves come before all others once nothing else contributes to them.
  static constexpr uint64_t kLeafSequence = ~uint64_t{0};

  Node(const char *op, Loc where, const Stream &stream, uint64_t sequence);
  virtual ~Node();
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;

  /// The gradients of the inputs from those of the outputs; `needs`: of which inputs.
  virtual std::vector<Tensor> run(std::vector<Tensor> gradients, std::vector<bool> needs) = 0;
  /// Gives up what was saved. After that run() is an error.
  virtual void release() {}
  virtual bool isReleased() const { return false; }
  /// True if the node leads to leaves that no edge shows, as a checkpointed segment does.
  virtual bool hasHiddenLeaves() const { return false; }
  virtual std::span<const GradientHook> hooksOf(size_t output) const { return hooks[output]; }

  const char *const op;
  const Loc where; ///< of the forward
  Stream stream;
  const uint64_t sequence; ///< inputs have smaller ones
  std::vector<Edge> inputs;
  std::vector<Metadata> outputs;
  std::vector<std::vector<GradientHook>> hooks; ///< of each output
};

/// The number of the next node.
uint64_t nextSequence();

/// A sum of gradients. The first is shared with whoever made it; from the second on the sum is a tensor of its own, which
/// takes the rest in place.
class GradientSum {
public:
  void add(const Stream &stream, const Tensor &gradient);
  /// The sum; none if there was no gradient. Forgets it.
  Tensor take();

private:
  Tensor tensor_;
  bool isOwn_ = false;
};

struct VariableState {
  Stream stream;
  Tensor value;
  Role role = kInput;
  Edge from;                       // of a computed variable
  std::weak_ptr<Node> leaf;        // where gradients of a trained leaf go
  Tensor grad;                     // nobody else's memory, row-major
  std::vector<GradientHook> hooks; // of a leaf
  std::vector<std::function<void(const Variable &)>> afterGrad;
};

/// Where gradients with respect to the variable go; no node if it wants none.
Edge edgeOf(const std::shared_ptr<VariableState> &variable);

/// The tensor, or a copy of it if others have its memory or it is not row-major.
Tensor ownTensor(const Stream &stream, Tensor tensor);

/// "f32[8,1024]"
std::string textOf(const Tensor &tensor);
/// "f32[8,1024]@virtual:sm_80"
std::string placedText(const Tensor &tensor);

} // namespace tile::autograd::detail
