// Variables: tensors that remember how they were computed, so that gradients can be taken.
//
//   autograd::Variable w(stream, weights, autograd::kTrained), x(stream, inputs);
//   auto loss = autograd::mean(autograd::matmul(x, w));
//   loss.backward();
//   Tensor slope = w.grad();
//
// Every function of variables that leads back to one that wants a gradient appends a node to a
// graph: the op, the tensors its derivative needs, and where its inputs came from. backward() walks
// the nodes from the last to the first. The graph belongs to the variables that were computed; it
// goes with them.
#pragma once

#include <tile/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tile::autograd {

namespace detail {
class Node;
struct VariableState;
/// Output `slot` of a node: where a gradient is sent.
struct Edge {
  std::shared_ptr<Node> node;
  int slot = 0;
};
} // namespace detail

/// What a variable that is not computed is for.
enum class Role { Input, Trained };
inline constexpr Role kInput = Role::Input;
/// It wants a gradient: a parameter.
inline constexpr Role kTrained = Role::Trained;

/// How backward() runs.
struct BackwardOptions {
  /// Keep what the nodes have saved, so that backward() can run again.
  bool retainGraph = false;
};

/// A tensor in a computation. Copies name the same variable. All work on it is done on its stream.
class Variable {
public:
  /// No variable: an optional input that is absent.
  Variable() = default;
  /// A variable that is not computed: a leaf. Error: InvalidArgument for a trained variable whose
  /// dtype is not f16, bf16, f32 or f64; InvalidHandle for a stream or tensor that is none.
  Variable(const Stream &stream, Tensor value, Role role = kInput, Loc loc = Loc::here());

  explicit operator bool() const { return state_ != nullptr; }
  /// The numbers. Errors of this and all below: InvalidHandle for no variable.
  const Tensor &value() const;
  const Stream &stream() const;
  DType dtype() const { return value().dtype(); }
  int rank() const { return value().rank(); }
  int64_t extent(int dim) const { return value().extent(dim); }
  /// "f32[8,1024]@virtual:sm_80".
  std::string str() const;

  /// Whether gradients flow to it: a trained leaf, or computed from one.
  bool requiresGrad() const;
  /// Not computed from others.
  bool isLeaf() const;
  /// A leaf that is computed from nothing, with the same memory and no gradient.
  Variable detach() const;

  /// The value, to be changed in place: what nodes have saved of it counts as changed, and a
  /// backward() that needs it is refused. Error: InvalidArgument where gradients are recorded and
  /// the variable wants one; optimizers work in the scope of a NoGrad.
  const Tensor &inPlace(Loc loc = Loc::here()) const;

  /// For a trained leaf, the sum of the gradients of all backward() since the last clearGrad(); no
  /// tensor before the first. The next backward() does not change a copy that you keep.
  const Tensor &grad() const;
  /// Forgets the gradient.
  void clearGrad() const;
  /// Replaces the gradient, as clipping does, by the tensor, or by a copy of it if others have its
  /// memory. Error: InvalidShape unless of the value's extents and dtype.
  void setGrad(Tensor grad, Loc loc = Loc::here()) const;

  /// Computes the gradients of this variable, which has one element, with respect to all trained
  /// leaves it was computed from, and adds them to theirs. Errors: InvalidShape for more elements,
  /// InvalidArgument if it leads to no trained leaf, UseAfterFree if it has been run and the graph
  /// was not retained, Aliasing if a saved tensor was changed since.
  void backward(BackwardOptions options = {}, Loc loc = Loc::here()) const;
  /// The same for any extents: `seed` is the gradient of some number with respect to this variable.
  void backward(const Tensor &seed, BackwardOptions options = {}, Loc loc = Loc::here()) const;

  /// Calls `hook` with each gradient with respect to this variable, once it is complete; the tensor
  /// that it returns, if any, takes the gradient's place.
  void hook(std::function<Tensor(const Tensor &)> hook) const;
  /// For a trained leaf: calls `hook` each time backward() has added to grad().
  void afterGrad(std::function<void(const Variable &)> hook) const;

  /// For the engine.
  explicit Variable(std::shared_ptr<detail::VariableState> state) : state_(std::move(state)) {}
  detail::VariableState &state(const char *use) const;
  const std::shared_ptr<detail::VariableState> &shared() const { return state_; }

private:
  std::shared_ptr<detail::VariableState> state_;
};

/// While one of these lives, functions of variables record nothing in this thread.
class NoGrad {
public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad &) = delete;
  NoGrad &operator=(const NoGrad &) = delete;

private:
  bool before_;
};
/// Ends the effect of NoGrad for its own life.
class WithGrad {
public:
  WithGrad();
  ~WithGrad();
  WithGrad(const WithGrad &) = delete;
  WithGrad &operator=(const WithGrad &) = delete;

private:
  bool before_;
};
/// Whether functions of variables record in this thread.
bool isRecording();

/// The gradients of `outputs` with respect to `inputs`, which may be computed ones; grad() of no
/// leaf changes. Each output but those of one element needs its seed. An input that no output
/// depends on gets no tensor. Errors: those of Variable::backward.
std::vector<Tensor> grad(std::span<const Variable> outputs, std::span<const Variable> inputs,
                         std::span<const Tensor> seeds = {}, BackwardOptions options = {},
                         Loc loc = Loc::here());

/// While one of these lives, backward() in this thread looks at each gradient and stops at the
/// first that has a NaN, with an error that names the op and the line of its forward.
class FindAnomalies {
public:
  FindAnomalies();
  ~FindAnomalies();
  FindAnomalies(const FindAnomalies &) = delete;
  FindAnomalies &operator=(const FindAnomalies &) = delete;

private:
  bool before_;
};

/// How many nodes of graphs there are in this process: 0 when nothing is kept.
size_t liveNodes();

} // namespace tile::autograd
