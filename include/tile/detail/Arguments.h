// From the arguments of a call to HostArg, with a sentence for each that does not fit. Users need
// Kernel.h alone.
#pragma once

#include <tile/detail/Params.h>

#include <bit>

namespace tile {

template <class T> class TensorOf;
template <class T, int Rank> class Ref;

namespace detail {

template <class T> constexpr DType elementOf(const TensorOf<T> *) { return dtypeOf<T>; }
template <class T, int Rank> constexpr DType elementOf(const Ref<T, Rank> *) {
  return dtypeOf<std::remove_const_t<T>>;
}
constexpr DType elementOf(const void *) { return any; }
/// The element type that a host argument's C++ type promises; `any` if it is known only at run
/// time.
template <class X> inline constexpr DType kStaticDtype = elementOf(static_cast<const X *>(nullptr));
/// The rank that it promises (a static member `kRank`), or -1.
template <class X> inline constexpr int kStaticRank = -1;
template <class X>
requires requires { X::kRank; }
inline constexpr int kStaticRank<X> = X::kRank;

/// An argument of a call, for messages; of an example there is no call.
struct ArgumentPlace {
  const KernelRecord *record = nullptr;
  Loc call;
  int argument = 0;
};
[[noreturn]] void scalarOutOfRange(const ArgumentPlace &place, DType dtype, Arg number);

/// The bits of a host number in a scalar parameter's dtype. Integers that do not fit are an Error.
template <DType D, HostNumber T> HostArg scalarArg(T number, const ArgumentPlace &place = {}) {
  HostArg arg;
  arg.kind = HostArg::Scalar;
  arg.dtype = D;
  if constexpr (D == f64)
    arg.bits = std::bit_cast<uint64_t>(static_cast<double>(number));
  else if constexpr (D == f32)
    arg.bits = std::bit_cast<uint32_t>(static_cast<float>(number));
  else if constexpr (D == f16)
    arg.bits = half(static_cast<float>(number)).bits;
  else if constexpr (D == bf16)
    arg.bits = bfloat16(static_cast<float>(number)).bits;
  else if constexpr (D == e4m3)
    arg.bits = float8_e4m3(static_cast<float>(number)).bits;
  else if constexpr (D == e5m2)
    arg.bits = float8_e5m2(static_cast<float>(number)).bits;
  else {
    constexpr int kBits = D == i1 ? 1 : static_cast<int>(sizeOf(D)) * 8;
    uint64_t bits = static_cast<uint64_t>(number), high = kBits == 64 ? 0 : bits >> (kBits % 64);
    bool negative = std::is_signed_v<T> && number < T(0);
    bool fits = kBits == 64     ? (isUnsigned(D) ? !negative : negative || !(bits >> 63))
                : isUnsigned(D) ? high == 0 && !negative
                                : (negative ? (static_cast<int64_t>(bits) >> (kBits - 1)) == -1
                                            : (bits >> (kBits - 1)) == 0);
    if (!fits)
      scalarOutOfRange(place, D, Arg(number, place.call));
    arg.bits = kBits == 64 ? bits : bits & ((uint64_t(1) << (kBits % 64)) - 1);
  }
  return arg;
}

// One sentence a fault, and nothing after it.
template <class P, class X> HostArg checkedArg(const X &x, const ArgumentPlace &place) {
  constexpr ParamSpec kSpec = ParamTraits<P>::kSpec;
  constexpr bool kIsScalar = kSpec.kind == ParamSpec::Scalar, kIsNumber = HostNumber<X>;
  constexpr bool kFitsScalar = kIsNumber && (isFloat(kSpec.dtype) || std::is_integral_v<X>);
  constexpr bool kIsTensor = requires { toHostArg(x); };
  static_assert(
      !kIsScalar || kIsNumber,
      "a number is expected for a Scalar parameter of the kernel, but this argument is not one");
  static_assert(!kIsScalar || !kIsNumber || kFitsScalar,
                "a floating-point number was given for an integer Scalar parameter of the kernel");
  static_assert(kIsScalar || kIsTensor,
                "a tensor is expected for an In, Out or InOut parameter of the kernel, "
                "but this argument is not one");
  static_assert(kIsScalar || kSpec.dtype == any || kStaticDtype<X> == any ||
                    kStaticDtype<X> == kSpec.dtype,
                "a tensor argument has another dtype than the kernel's parameter");
  static_assert(kIsScalar || kStaticRank<X> < 0 || kStaticRank<X> == kSpec.rank,
                "a tensor argument has another rank than the kernel's parameter");
  if constexpr (kIsScalar && kFitsScalar)
    return scalarArg<kSpec.dtype>(x, place);
  else if constexpr (!kIsScalar && kIsTensor)
    return toHostArg(x);
  else
    return {};
}

/// Hands `act` the arguments of a call as HostArgs; P are the parameters they are for.
template <class... P, class Act, class... X>
void withArguments(Params<P...>, const KernelRecord &record, Loc call, const Act &act,
                   const X &...arguments) {
  int i = 0;
  HostArg args[sizeof...(X) + 1] = {checkedArg<P>(arguments, {&record, call, i++})...};
  act(std::span<const HostArg>(args, sizeof...(X)));
}

} // namespace detail

} // namespace tile
