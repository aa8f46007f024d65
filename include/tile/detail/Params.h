// From the lambda's signature to the parameters of a kernel. Users need Kernel.h alone.
#pragma once

#include <tile/View.h>
#include <tile/detail/KernelRecord.h>

#include <type_traits>
#include <utility>

namespace tile::detail {

template <class P> struct ParamTraits {
  static_assert(kAlwaysFalse<P>,
                "a kernel's parameters are In<dtype, rank>, Out<dtype, rank>, InOut<dtype, rank>, "
                "Scalar<dtype>, Const or ConstOf<T>, taken by value");
  // So that the sentence above stands alone.
  static constexpr ParamSpec kSpec = {ParamSpec::Const, any, 0};
  using Held = int;
  static P make(const ParamSource &source, int index);
};
template <class P, ParamSpec::Kind K, DType D, int R> struct ValueParam {
  static constexpr ParamSpec kSpec = {K, D, R};
  static P make(const ParamSource &source, int index) { return P(source.value(index)); }
};
template <DType D, int R>
struct ParamTraits<In<D, R>> : ValueParam<In<D, R>, ParamSpec::In, D, R> {};
template <DType D, int R>
struct ParamTraits<Out<D, R>> : ValueParam<Out<D, R>, ParamSpec::Out, D, R> {};
template <DType D, int R>
struct ParamTraits<InOut<D, R>> : ValueParam<InOut<D, R>, ParamSpec::InOut, D, R> {};
template <DType D>
struct ParamTraits<Scalar<D>> : ValueParam<Scalar<D>, ParamSpec::Scalar, D, 0> {};
template <> struct ParamTraits<Const> {
  static constexpr ParamSpec kSpec = {ParamSpec::Const, any, 0};
  using Held = int;
  static Const make(const ParamSource &source, int index) { return Const(source.constant(index)); }
};
template <class T> struct ParamTraits<ConstOf<T>> {
  static constexpr ParamSpec kSpec = {ParamSpec::Const, any, 0};
  using Held = T;
  static ConstOf<T> make(const ParamSource &source, int index) {
    return ConstOf<T>(static_cast<T>(source.constant(index)));
  }
};

template <class P> inline constexpr bool kIsConst = ParamTraits<P>::kSpec.kind == ParamSpec::Const;

template <class F, class... P> class BodyOf final : public KernelBody {
public:
  explicit BodyOf(F function) : function_(std::move(function)) {}
  void run(const ParamSource &source) const override {
    run(source, std::index_sequence_for<P...>());
  }

private:
  template <size_t... I> void run(const ParamSource &source, std::index_sequence<I...>) const {
    function_(ParamTraits<P>::make(source, I)...);
  }
  mutable F function_;
};

/// The parameter types of one sort, in order: the constants, or those that take an argument of the
/// call.
template <class... P> struct Params {};
template <bool Constants, class Done, class... P> struct Sorted { using type = Done; };
template <bool Constants, class... Done, class First, class... Rest>
struct Sorted<Constants, Params<Done...>, First, Rest...> {
  using type = typename Sorted<
      Constants,
      std::conditional_t<kIsConst<First> == Constants, Params<Done..., First>, Params<Done...>>,
      Rest...>::type;
};
template <class... P> using ConstParams = typename Sorted<true, Params<>, P...>::type;
template <class... P> using RuntimeParams = typename Sorted<false, Params<>, P...>::type;

/// The number by which a constant travels.
template <class P, class N> constexpr int64_t constantOf(const N &value) {
  using Held = typename ParamTraits<P>::Held;
  constexpr bool kIsInt = std::same_as<Held, int>;
  constexpr bool kFits =
      kIsInt ? HostInt<N> : std::same_as<N, Held> || std::same_as<N, ConstOf<Held>>;
  static_assert(kFits || !kIsInt, "consts(...) takes an integer for a Const parameter");
  static_assert(kFits || kIsInt, "consts(...) takes a T for a ConstOf<T> parameter: true or false, "
                                 "or a constant of its enum");
  if constexpr (kFits && kIsInt)
    return static_cast<int64_t>(value);
  else if constexpr (kFits)
    return static_cast<int64_t>(static_cast<Held>(value));
  else
    return 0;
}

} // namespace tile::detail
