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
// An object of the struct lives as long as its node: numbers that backward needs are its members. Tensors that it needs
// are saved in the context, which notices when they are changed in between. forward returns a Tensor or a std::array of
// them; backward takes a gradient for each and returns one for each input, a Tensor or a std::array. No tensor stands for
// an input that is absent, and for a gradient that is zero or not wanted.
#pragma once

#include <tile/autograd/Variable.h>

#include <array>
#include <vector>

namespace tile::autograd {

namespace detail {
class FunctionNode;
} // namespace detail

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

namespace detail {

/// What the engine calls of a function whose type it does not know.
class AnyFunction {
public:
  virtual ~AnyFunction() = default;
  virtual std::vector<Tensor> forward(Context &context, std::span<const Tensor> inputs) = 0;
  virtual std::vector<Tensor> backward(Context &context, std::span<const Tensor> outputs) = 0;
};

template <class T> inline constexpr size_t kTensorsIn = 0;
template <> inline constexpr size_t kTensorsIn<Tensor> = 1;
template <size_t N> inline constexpr size_t kTensorsIn<std::array<Tensor, N>> = N;

inline std::vector<Tensor> asList(Tensor tensor) { return {std::move(tensor)}; }
template <size_t N> std::vector<Tensor> asList(std::array<Tensor, N> tensors) {
  return {tensors.begin(), tensors.end()};
}

/// Whether forward and backward can be called with one tensor for each index.
template <class F, class Indices> inline constexpr bool kHasForward = false;
template <class F, size_t... I>
inline constexpr bool kHasForward<F, std::index_sequence<I...>> = requires(F &f, Context &context,
                                                                           const Tensor &x) {
  f.forward(context, ((void)I, x)...);
};
template <class F, class Indices> inline constexpr bool kHasBackward = false;
template <class F, size_t... O>
inline constexpr bool kHasBackward<F, std::index_sequence<O...>> = requires(F &f, Context &context,
                                                                            const Tensor &y) {
  f.backward(context, ((void)O, y)...);
};

template <class F, class Ins, class Outs> class FunctionOf;
template <class F, size_t... I, size_t... O>
class FunctionOf<F, std::index_sequence<I...>, std::index_sequence<O...>> final
    : public AnyFunction {
public:
  explicit FunctionOf(F function) : function_(std::move(function)) {}
  std::vector<Tensor> forward(Context &context, std::span<const Tensor> inputs) override {
    return asList(function_.forward(context, inputs[I]...));
  }
  std::vector<Tensor> backward(Context &context, std::span<const Tensor> outputs) override {
    return asList(function_.backward(context, outputs[O]...));
  }

private:
  F function_;
};

/// Runs the function, and records it if gradients are wanted.
std::vector<Variable> applyAny(std::unique_ptr<AnyFunction> function, const char *op, Loc loc,
                               std::span<const Variable> inputs);

template <class F, size_t... I>
auto forwardResult(F &f, Context &context, std::index_sequence<I...>, const Tensor &x)
    -> decltype(f.forward(context, ((void)I, x)...));
template <class F, size_t... O>
auto backwardResult(F &f, Context &context, std::index_sequence<O...>, const Tensor &y)
    -> decltype(f.backward(context, ((void)O, y)...));
template <class F, class Ins>
using ForwardResult = decltype(forwardResult(std::declval<F &>(), std::declval<Context &>(), Ins(),
                                             std::declval<const Tensor &>()));
template <class F, class Outs>
using BackwardResult = decltype(backwardResult(std::declval<F &>(), std::declval<Context &>(),
                                               Outs(), std::declval<const Tensor &>()));

} // namespace detail

/// function.forward of the inputs' values, remembered with what its backward needs. Returns a Variable, or a std::array of
/// them if forward does. `loc` is the line that messages name: take it from your caller.
/// Errors: InvalidArgument if inputs are of different streams; those of forward. When backward() runs: InvalidShape,
/// InvalidArgument if a gradient has not the extents and dtype of its input.
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
