// A reference to a callable. Users need none of it: lambdas convert.
#pragma once

#include <concepts>
#include <type_traits>

namespace tile::detail {

/// A non-owning reference to a callable, for bodies that run before the call returns.
template <class> class FunctionRef;
template <class R, class... A> class FunctionRef<R(A...)> {
public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<R, F &, A...>) FunctionRef(F &&function)
      : object_(const_cast<void *>(static_cast<const void *>(&function))),
        call_([](void *object, A... args) -> R {
          return (*static_cast<std::remove_reference_t<F> *>(object))(static_cast<A>(args)...);
        }) {}
  R operator()(A... args) const { return call_(object_, static_cast<A>(args)...); }

private:
  void *object_;
  R (*call_)(void *, A...);
};

} // namespace tile::detail
