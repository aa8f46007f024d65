// Functions that stay functions: a kernel calls such a C++ function over Values instead of inlining
// it at each use, so that it is compiled once however often it is called.
//
//   auto swish = callable("swish", [](Value x, Value beta) { return x / (1 + exp(-beta * x)); });
//   auto k = kernel("k", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
//     Value i = grid1d(y, {B}), v = x.tile({B})(i);
//     for (int round = 0; round < 50; ++round)
//       v = swish(v, 0.5f);
//     y.tile({B})(i) = v;
//   });
//
// A function is compiled per list of argument dtypes and shapes, and shared by all calls with the
// same list. Arguments and results have one layout per shape and dtype, to which a call converts
// others: an ordinary C++ function, which is inlined, is faster where it is small or used once. A
// function computes with values only: it may loop, branch, reduce, multiply and call others, but
// neither load, store, print nor assert, and it uses no staged values of its caller except its
// arguments. Checked builds check nothing inside. All threads of the program must reach a call, as
// they must reach a barrier; `guard`, `if_` and loops ensure that.
//
// Errors: views and pointers as arguments; accesses of memory, prints and assertions inside; values
// and variables of the caller; a function that calls itself.
#pragma once

#include <tile/detail/Callable.h>

namespace tile {

/// What `callable` returns: call it in kernels, with Values, Vars and host numbers.
template <class F, class R, class... P> class Callable {
public:
  static_assert(sizeof...(P) > 0, "a callable takes at least one Value");
  static_assert((std::same_as<std::remove_cvref_t<P>, Value> && ...),
                "a callable's parameters are Values");

  Callable(std::shared_ptr<const detail::CallableInfo> info, F function)
      : info_(std::move(info)), function_(std::move(function)) {}

  R operator()(detail::ArgFor<P>... arguments) const {
    return call({arguments...}, std::index_sequence_for<P...>());
  }

private:
  template <size_t... I>
  R call(const std::vector<Arg> &arguments, std::index_sequence<I...>) const {
    return detail::FromList<R>::make(
        detail::callFunction(*info_, arguments, [&](const std::vector<Value> &values) {
          return detail::listOf(R(function_(values[I]...)));
        }));
  }

  std::shared_ptr<const detail::CallableInfo> info_;
  F function_;
};

/// Makes a function of a lambda over Values, which returns a Value or a pair, tuple or array of
/// them. `name` becomes part of the function's name in PTX.
template <class F> auto callable(std::string name, F function, Loc where = Loc::here()) {
  static_assert(
      requires { &F::operator(); },
      "a callable's lambda names the type of each parameter: `auto` parameters are refused");
  const void *type = std::is_empty_v<F> ? &detail::kTypeMark<F> : nullptr;
  return detail::callableOf(&F::operator(), detail::makeCallable(std::move(name), type, where),
                            std::move(function));
}

} // namespace tile
