// Functions of variables: a forward and a backward, written with tensors.
//
//   struct Square {
//     static constexpr const char *kName = "square";
//     Tensor forward(autograd::Context &context, const Tensor &x) {
//       context.save({x});
//       return ops::multiply(context.stream(), x, x);
//     }
//     Tensor backward(autograd::Context &context, const Tensor &dy) {
//       Tensor twice = ops::affine(context.stream(), context.saved(0), 2, 0);
//       return ops::multiply(context.stream(), dy, twice);
//     }
//   };
//   Variable square(const Variable &x, Loc loc = Loc::here()) {
//     return autograd::apply(Square(), loc, x);
//   }
//
// An object of the struct lives as long as its node: numbers that backward needs are its members.
// Tensors that it needs are saved in the context, which notices when they are changed in between.
// forward returns a Tensor or a std::array of them; backward takes a gradient for each and returns
// one for each input, a Tensor or a std::array. No tensor stands for an input that is absent, and
// for a gradient that is zero or not wanted.
#pragma once

#include <tile/autograd/Variable.h>
#include <tile/detail/autograd/Function.h>

#include <array>
#include <vector>

namespace tile::autograd {

/// What a function knows besides its tensors.
class Context {
public:
  /// The stream of the inputs, for all work of the function.
  const Stream &stream() const { return stream_; }
  /// The line that called the function: for errors.
  Loc where() const { return where_; }
  /// In forward: whether anybody will ask for gradients; nothing needs saving if not.
  bool isRecorded() const { return isRecorded_; }
  /// Whether the gradient of input `i` is wanted; in forward, whether it may be.
  bool needs(size_t i) const { return i < needs_.size() && needs_[i]; }
  /// Keeps tensors for backward; of several calls the last counts. Inputs and outputs are fine.
  void save(std::initializer_list<Tensor> tensors);
  void save(std::span<const Tensor> tensors);
  /// In backward: the tensor that was saved i-th. Error: Aliasing if it was changed since.
  const Tensor &saved(size_t i) const;

private:
  friend class detail::FunctionNode;
  struct Saved {
    Tensor tensor;
    uint64_t version = 0;
  };
  const char *op_ = "";
  Stream stream_;
  Loc where_;
  bool isRecorded_ = false;
  std::vector<bool> needs_;
  std::vector<Saved> saved_;
};

/// function.forward of the inputs' values, remembered with what its backward needs. Returns a
/// Variable, or a std::array of them if forward does. `loc` is the line that messages name: take it
/// from your caller.
/// Errors: InvalidArgument if inputs are of different streams; those of forward. When backward()
/// runs: InvalidShape, InvalidArgument if a gradient has not the extents and dtype of its input.
template <class F, class... X>
requires(std::same_as<X, Variable> &&...) auto apply(F function, Loc loc, const X &...inputs) {
  constexpr size_t kIns = sizeof...(X);
  static_assert(
      requires {
        { F::kName } -> std::convertible_to<const char *>;
      },
      "a function of variables has a name: static constexpr const char *kName");
  using Ins = std::make_index_sequence<kIns>;
  static_assert(detail::kHasForward<F, Ins>,
                "forward takes the context and one const Tensor & for each input variable");
  using Result = detail::ForwardResult<F, Ins>;
  constexpr size_t kOuts = detail::kTensorsIn<Result>;
  static_assert(kOuts > 0, "forward returns a Tensor or a std::array of them");
  using Outs = std::make_index_sequence<kOuts>;
  static_assert(detail::kHasBackward<F, Outs>,
                "backward takes the context and one const Tensor & for each output of forward");
  static_assert(detail::kTensorsIn<detail::BackwardResult<F, Outs>> == kIns,
                "backward returns a gradient for each input: a Tensor or a std::array of them");
  std::array<Variable, kIns> list{inputs...};
  auto results = detail::applyAny(
      std::make_unique<detail::FunctionOf<F, Ins, Outs>>(std::move(function)), F::kName, loc, list);
  if constexpr (std::same_as<Result, Tensor>) {
    return results[0];
  } else {
    std::array<Variable, kOuts> outputs;
    std::move(results.begin(), results.end(), outputs.begin());
    return outputs;
  }
}

} // namespace tile::autograd
