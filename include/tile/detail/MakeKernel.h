// From a lambda to a Kernel. Users need Kernel.h alone.
#pragma once

#include <tile/detail/Params.h>

#include <string>

namespace tile {

template <class... P> class Kernel;

namespace detail {

template <class F> inline constexpr char kLambda = 0;

template <class F, class... P>
Kernel<P...> makeKernel(std::string name, KernelIdentity identity, F function, Loc where) {
  return Kernel<P...>(makeRecord(std::move(name), std::move(identity), {ParamTraits<P>::kSpec...},
                                 std::make_unique<BodyOf<F, P...>>(std::move(function)), where));
}
template <class F, class R, class... P>
auto kernelOf(R (F::*)(P...) const, std::string name, KernelIdentity identity, F function,
              Loc where) {
  return makeKernel<F, P...>(std::move(name), std::move(identity), std::move(function), where);
}
template <class F, class R, class... P>
auto kernelOf(R (F::*)(P...), std::string name, KernelIdentity identity, F function, Loc where) {
  return makeKernel<F, P...>(std::move(name), std::move(identity), std::move(function), where);
}
template <class F> auto kernelOf(std::string name, KernelIdentity identity, F function, Loc where) {
  if constexpr (requires { &F::operator(); })
    return kernelOf(&F::operator(), std::move(name), std::move(identity), std::move(function),
                    where);
  else
    static_assert(
        kAlwaysFalse<F>,
        "a kernel's lambda names the type of each parameter: `auto` parameters are refused");
}

/// A key, and the bytes of what a lambda captures, if they are all there is to it.
template <class F> std::string keyWithCaptures(std::string key, const F &function) {
  if constexpr (std::is_trivially_copyable_v<F> && !std::is_empty_v<F>) {
    key += '\0';
    key.append(reinterpret_cast<const char *>(&function), sizeof function);
  }
  return key;
}

} // namespace detail

} // namespace tile
