// From a function of tensors to a node of the graph. Users need autograd/Function.h alone.
#pragma once

#include <tile/autograd/Variable.h>

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tile::autograd {

class Context;

namespace detail {

class FunctionNode;

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

} // namespace tile::autograd
