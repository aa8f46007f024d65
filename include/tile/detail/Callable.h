// What calls of functions are made of. Users need Callable.h alone.
#pragma once

#include <tile/Value.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace tile {

template <class F, class R, class... P> class Callable;

namespace detail {

/// A callable as the tracer sees it. Callables of one id are one function.
struct CallableInfo {
  uint64_t id;
  std::string name;
  Loc where;
};

/// Checks the name; `type` identifies functions without captures, null makes a fresh id.
std::shared_ptr<const CallableInfo> makeCallable(std::string name, const void *type, Loc where);

/// Calls it in the trace in progress; `body` is run if no call had such arguments before.
std::vector<Value> callFunction(const CallableInfo &info, const std::vector<Arg> &arguments,
                                FunctionRef<std::vector<Value>(const std::vector<Value> &)> body);

template <class F> inline constexpr char kTypeMark = 0;

/// A function's results as a list, and back.
inline std::vector<Value> listOf(const Value &value) { return {value}; }
template <class Results> std::vector<Value> listOf(const Results &results) {
  return std::apply([](const auto &...each) { return std::vector<Value>{each...}; }, results);
}
template <class Results> struct FromList {
  static Results make(const std::vector<Value> &list) {
    return make(list, std::make_index_sequence<std::tuple_size_v<Results>>());
  }
  template <size_t... I>
  static Results make(const std::vector<Value> &list, std::index_sequence<I...>) {
    return Results{list[I]...};
  }
};
template <> struct FromList<Value> {
  static Value make(const std::vector<Value> &list) { return list[0]; }
};

template <class> using ArgFor = Arg;

template <class F, class R, class... P>
auto callableOf(R (F::*)(P...) const, std::shared_ptr<const CallableInfo> info, F function) {
  return Callable<F, R, P...>(std::move(info), std::move(function));
}

} // namespace detail

} // namespace tile
