// Kernels: a lambda over views, scalars and constants, given a name, and how to launch it.
//
//   auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, Const B) {
//     Value i = grid1d(y, {B});
//     y.tile({B})(i) = x.tile({B})(i) * s;
//   });
//   scale.consts(1024)(stream, a, b, 0.5f);
//
// Parameters are In, Out, InOut, Scalar<dtype> and Const, by value. Const parameters are given to
// `consts(...)` in their order; the others are the arguments of the call, after the stream. Number,
// dtype and rank of arguments are checked at compile time where their C++ type says enough, and
// when called otherwise (Error, InvalidArgument).
//
// Tensors are Tensor, TensorOf, `ref(...)` of memory that others own, or any class with dtype(), rank(), extent(dim),
// stride(dim) and data().
#pragma once

#include <tile/View.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tile {

class Device;
class Stream;
template <class T> class TensorOf;
template <class T, int Rank> class Ref;

namespace detail {

/// One parameter of a kernel, as its lambda declares it.
struct ParamSpec {
  enum Kind : uint8_t { In, Out, InOut, Scalar, Const } kind;
  DType dtype; ///< `any` for views of any dtype and for Const
  int rank;    ///< of views
};

/// What a kernel's body asks for its parameters while it is traced.
struct ParamSource {
  Value value(int param) const;
  int constant(int param) const;
};

class KernelBody {
public:
  virtual ~KernelBody() = default;
  virtual void run(const ParamSource &source) const = 0;
};

/// A kernel as the compiler sees it. `id` identifies it in memory for the life of the process.
struct KernelRecord {
  uint64_t id = 0;
  std::string name;
  Loc where;
  std::vector<ParamSpec> params;
  std::vector<std::string> paramNames; ///< empty, or one a parameter
  std::unique_ptr<KernelBody> body;
};

/// What a kernel is known by: kernels of one name and identity share compiled code.
struct KernelIdentity {
  const void *type = nullptr; ///< of a lambda without captures: an address that no other type has
  std::string key;            ///< of kernel_capturing, with what is captured
  auto operator<=>(const KernelIdentity &) const = default;
};

/// A new record with the id that identity and name had before, or a fresh one. Error: a name that is not an identifier.
std::shared_ptr<KernelRecord> makeRecord(std::string name, KernelIdentity identity,
                                         std::vector<ParamSpec> params,
                                         std::unique_ptr<KernelBody> body, Loc where);

/// The records of all kernels there are, oldest first: what tools find in a library they have loaded.
std::vector<std::shared_ptr<const KernelRecord>> liveRecords();

/// An argument of a call: a tensor, or the bits of a scalar of the parameter's dtype (in the low
/// bytes).
struct HostArg {
  enum Kind : uint8_t { Tensor, Scalar } kind = Tensor;
  DType dtype = any;
  uint8_t rank = 0;
  uint8_t sameAs =
      0; ///< 1 + the first argument that is this very view, where the kernel writes one of them; else 0
  bool hasValue = true; ///< false: a scalar whose value is still open, in an example
  uint64_t bits = 0;    ///< of a scalar
  void *pointer = nullptr;
  uint64_t device = 0; ///< handle of the device that owns the memory; 0 if unknown
  int64_t extents[kMaxRank] = {};
  int64_t strides[kMaxRank] = {}; ///< in elements
};

/// Throws InvalidShape unless a tensor of these extents has `size` elements.
void checkSpan(size_t size, std::span<const int64_t> extents, Loc loc);

/// What a kernel is compiled with, besides its constants. Kernels that differ here are compiled
/// apart; a kernel's own hints count for more.
struct CompileSettings {
  int warps = 4;
  int maxRegisters = 0; ///< of a thread; 0: the assembler decides
  int occupancy = 1;    ///< blocks that must fit a multiprocessor together
  bool fpFusion = true; ///< a * b + c may round once
  bool flushDenormals = false;
  bool checked = false; ///< what the kernel takes for granted is asserted
  bool assume = true;   ///< alignments and strides of arguments are part of the specialisation
  bool operator==(const CompileSettings &) const = default;
};

/// How to launch: `grid` is used only if `hasGrid`, else it follows from the kernel's grid helper.
struct LaunchOptions {
  CompileSettings compile;
  bool hasGrid = false;
  int64_t grid[3] = {1, 1, 1};
  Loc call; ///< the line that launches
};

/// Checks number, kind, dtype and rank of the arguments against the kernel. Throws Error,
/// InvalidArgument, naming the argument: "arg 2 'b': expected ptr<f16>, got ptr<f32>".
void checkArguments(const KernelRecord &record, std::span<const HostArg> args);

/// The text of a kernel's tile IR; `anyTypes` are the dtypes of its views of `any` dtype, in order.
std::string tileIr(const KernelRecord &record, std::span<const int64_t> consts,
                   const CompileSettings &settings, const std::vector<DType> &anyTypes);
/// The same for these arguments, of which dtypes, extents and numbers count.
std::string tileIr(const KernelRecord &record, std::span<const int64_t> consts,
                   const CompileSettings &settings, std::span<const HostArg> args);

/// Checks the arguments, compiles on first use and launches; part of the runtime. Errors get a note with `options.call`.
void launch(const KernelRecord &record, const Stream &stream, std::span<const HostArg> args,
            std::span<const int64_t> consts, const LaunchOptions &options);
/// The same without launching.
void prepare(const KernelRecord &record, const Device &device, std::span<const HostArg> args,
             std::span<const int64_t> consts, const LaunchOptions &options);

// --- From the lambda's signature to parameters ---------------------------------------------------

template <class P> struct ParamTraits {
  static_assert(kAlwaysFalse<P>,
                "a kernel's parameters are In<dtype, rank>, Out<dtype, rank>, InOut<dtype, rank>, "
                "Scalar<dtype> or Const, taken by value");
  // So that the sentence above stands alone.
  static constexpr ParamSpec kSpec = {ParamSpec::Const, any, 0};
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
  static Const make(const ParamSource &source, int index) { return Const(source.constant(index)); }
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

// --- From host arguments to HostArg --------------------------------------------------------------

template <class X>
concept TensorLike = requires(const X &x) {
  { x.dtype() } -> std::convertible_to<DType>;
  x.rank();
  x.extent(0);
  x.stride(0);
  x.data();
};

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

/// Describes a tensor argument. Overload it beside a class of your own to make that class
/// acceptable.
template <TensorLike X> HostArg toHostArg(const X &tensor) {
  HostArg arg;
  arg.dtype = tensor.dtype();
  int rank = static_cast<int>(tensor.rank());
  arg.rank = static_cast<uint8_t>(rank);
  arg.pointer = const_cast<void *>(static_cast<const void *>(tensor.data()));
  if constexpr (requires { tensor.deviceHandle(); })
    arg.device = tensor.deviceHandle();
  for (int dim = 0; dim < rank && dim < kMaxRank; ++dim)
    arg.extents[dim] = tensor.extent(dim), arg.strides[dim] = tensor.stride(dim);
  return arg;
}

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

/// The parameter types without Const, in order: those that take an argument of the call.
template <class... P> struct Params {};
template <class Done, class... P> struct RuntimeParams { using type = Done; };
template <class... Done, class First, class... Rest>
struct RuntimeParams<Params<Done...>, First, Rest...> {
  using type = typename RuntimeParams<
      std::conditional_t<kIsConst<First>, Params<Done...>, Params<Done..., First>>, Rest...>::type;
};

template <class... P> struct CallWith {
  template <class... X>
  static void call(Params<P...>, const KernelRecord &record, const Stream &stream,
                   std::span<const int64_t> consts, const LaunchOptions &options,
                   const X &...arguments) {
    int i = 0;
    HostArg args[sizeof...(X) + 1] = {checkedArg<P>(arguments, {&record, options.call, i++})...};
    launch(record, stream, {args, sizeof...(X)}, consts, options);
  }
  template <class... X>
  static void prepare(Params<P...>, const KernelRecord &record, const Device &device,
                      std::span<const int64_t> consts, const LaunchOptions &options,
                      const X &...arguments) {
    int i = 0;
    HostArg args[sizeof...(X) + 1] = {checkedArg<P>(arguments, {&record, options.call, i++})...};
    detail::prepare(record, device, {args, sizeof...(X)}, consts, options);
  }
};

} // namespace detail

/// A non-owning tensor of static rank over memory of a device: `ref(pointer, {1000, 777})`,
/// row-major unless strides (in elements) are given.
template <class T, int Rank> class Ref {
public:
  static constexpr int kRank = Rank;

  Ref(T *data, const int64_t (&extents)[Rank]) : data_(data) {
    for (int dim = Rank - 1; dim >= 0; --dim) {
      extents_[dim] = extents[dim];
      strides_[dim] = dim == Rank - 1 ? 1 : strides_[dim + 1] * extents_[dim + 1];
    }
  }
  Ref(T *data, const int64_t (&extents)[Rank], const int64_t (&strides)[Rank]) : data_(data) {
    for (int dim = 0; dim < Rank; ++dim)
      extents_[dim] = extents[dim], strides_[dim] = strides[dim];
  }
  DType dtype() const { return dtypeOf<std::remove_const_t<T>>; }
  int rank() const { return Rank; }
  int64_t extent(int dim) const { return extents_[dim]; }
  int64_t stride(int dim) const { return strides_[dim]; }
  T *data() const { return data_; }

private:
  T *data_;
  int64_t extents_[Rank], strides_[Rank];
};
template <class T, int Rank> Ref<T, Rank> ref(T *data, const int64_t (&extents)[Rank]) {
  return {data, extents};
}
template <class T, int Rank>
Ref<T, Rank> ref(T *data, const int64_t (&extents)[Rank], const int64_t (&strides)[Rank]) {
  return {data, extents, strides};
}
/// The same, row-major, of a span of the device's memory, which must have as many elements. Error: InvalidShape.
template <class T, int Rank>
Ref<T, Rank> ref(std::span<T> data, const int64_t (&extents)[Rank], Loc loc = Loc::here()) {
  detail::checkSpan(data.size(), extents, loc);
  return {data.data(), extents};
}
/// All elements of a span, as a vector.
template <class T> Ref<T, 1> ref(std::span<T> data) {
  return {data.data(), {static_cast<int64_t>(data.size())}};
}
/// The stream of a call and the line it is made from, for messages. Made by itself from a stream; functions that launch
/// for others hand on the line of their own caller: `scale.consts(1024)(CallSite(stream, loc), a, b)`.
struct CallSite {
  const Stream &stream;
  Loc where;
  CallSite(const Stream &stream, Loc where = Loc::here()) : stream(stream), where(where) {}
};

/// A kernel with launch settings, ready to call: `matmul.consts(128, 128, 64).warps(4)(stream, a,
/// b, c)`. Each setting returns a new launcher; keep one to save nothing but typing, since calls
/// look the kernel up by its settings.
template <bool HasConsts, class... P> class Launcher {
public:
  static constexpr int kConsts = (0 + ... + (detail::kIsConst<P> ? 1 : 0));
  static constexpr int kArguments = sizeof...(P) - kConsts;

  explicit Launcher(std::shared_ptr<const detail::KernelRecord> record)
      : record_(std::move(record)) {}

  /// The values of the kernel's Const parameters, in their order.
  template <HostInt... N> [[nodiscard]] Launcher<true, P...> consts(N... values) const {
    static_assert(sizeof...(N) == kConsts,
                  "consts(...) needs one number for each Const parameter of the kernel");
    Launcher<true, P...> result(record_);
    result.options_ = options_;
    if constexpr (sizeof...(N) == kConsts) {
      int64_t list[kConsts + 1] = {static_cast<int64_t>(values)...};
      for (int i = 0; i < kConsts; ++i)
        result.consts_[i] = list[i];
    }
    return result;
  }
  /// Warps a program: a power of two; 4 unless set.
  [[nodiscard]] Launcher warps(int count) const {
    Launcher result = *this;
    result.options_.compile.warps = count;
    return result;
  }
  /// The most registers a thread may use, 16 to 255: more threads fit a multiprocessor, values that
  /// do not fit go to memory.
  [[nodiscard]] Launcher maxnreg(int count) const {
    Launcher result = *this;
    result.options_.compile.maxRegisters = count;
    return result;
  }
  /// How many programs must fit a multiprocessor together, 1 to 32: bounds the registers.
  [[nodiscard]] Launcher occupancy(int programs) const {
    Launcher result = *this;
    result.options_.compile.occupancy = programs;
    return result;
  }
  /// Whether a * b + c may be rounded once instead of twice; it may unless this says no.
  [[nodiscard]] Launcher fp_fusion(bool allowed) const {
    Launcher result = *this;
    result.options_.compile.fpFusion = allowed;
    return result;
  }
  /// Whether f32 arithmetic takes and makes zeros for numbers below 2^-126; it keeps them unless
  /// this says so.
  [[nodiscard]] Launcher ftz(bool flush = true) const {
    Launcher result = *this;
    result.options_.compile.flushDenormals = flush;
    return result;
  }
  /// A checked build: the kernel asserts what it otherwise takes for granted, and a launch that
  /// breaks it ends with an error at the line. Asserted are: device_assert; promises (multiple_of,
  /// assume, `.unchecked()`); no overflow of + - * and unary - on integers below 64 bits; defined
  /// integer division; indices of gather inside. TILE_CHECKED=1 checks all kernels.
  [[nodiscard]] Launcher checked(bool on = true) const {
    Launcher result = *this;
    result.options_.compile.checked = on;
    return result;
  }
  /// One compile for all arguments of these dtypes: no alignments, unit strides or divisible extents
  /// are read from them, except that offsets beyond 2^31 are still noticed. Slower kernels, fewer of
  /// them.
  [[nodiscard]] Launcher no_assume() const {
    Launcher result = *this;
    result.options_.compile.assume = false;
    return result;
  }
  /// The launch grid, for kernels without a grid helper (or instead of it).
  [[nodiscard]] Launcher grid(int64_t x, int64_t y = 1, int64_t z = 1) const {
    Launcher result = *this;
    result.options_.hasGrid = true;
    result.options_.grid[0] = x, result.options_.grid[1] = y, result.options_.grid[2] = z;
    return result;
  }

  /// Launches on the stream: compiles for these dtypes and constants on first use. Errors: see the
  /// head of this file; an error in the kernel itself is thrown here, at its line.
  template <class... X> void operator()(CallSite site, const X &...arguments) const {
    static_assert(HasConsts || kConsts == 0,
                  "the kernel has Const parameters: call .consts(...) before launching it");
    static_assert(sizeof...(X) == kArguments,
                  "the call needs one argument, after the stream, for each parameter of the "
                  "kernel that is not a Const");
    if constexpr (sizeof...(X) == kArguments && (HasConsts || kConsts == 0))
      call(typename detail::RuntimeParams<detail::Params<>, P...>::type(), site, arguments...);
  }

  /// Compiles and loads what a call with such arguments needs, without launching: at start-up, say.
  /// Errors: as for the call.
  template <class... X> void prepare(const Device &device, const X &...arguments) const {
    static_assert(HasConsts || kConsts == 0,
                  "the kernel has Const parameters: call .consts(...) before preparing it");
    static_assert(sizeof...(X) == kArguments,
                  "prepare needs one argument, after the device, for each parameter of the "
                  "kernel that is not a Const");
    if constexpr (sizeof...(X) == kArguments && (HasConsts || kConsts == 0))
      prepareFor(typename detail::RuntimeParams<detail::Params<>, P...>::type(), device,
                 arguments...);
  }

  /// For the runtime.
  const detail::KernelRecord &record() const { return *record_; }
  std::span<const int64_t> constants() const { return {consts_, static_cast<size_t>(kConsts)}; }
  const detail::LaunchOptions &options() const { return options_; }

private:
  template <bool, class...> friend class Launcher;
  template <class... Runtime, class... X>
  void call(detail::Params<Runtime...> params, CallSite site, const X &...arguments) const {
    detail::LaunchOptions options = options_;
    options.call = site.where;
    detail::CallWith<Runtime...>::call(params, *record_, site.stream, constants(), options,
                                       arguments...);
  }
  template <class... Runtime, class... X>
  void prepareFor(detail::Params<Runtime...> params, const Device &device,
                  const X &...arguments) const {
    detail::CallWith<Runtime...>::prepare(params, *record_, device, constants(), options_,
                                          arguments...);
  }

  std::shared_ptr<const detail::KernelRecord> record_;
  int64_t consts_[kConsts + 1] = {};
  detail::LaunchOptions options_;
};

/// What `kernel()` returns: a launcher without constants, cheap to copy.
template <class... P> class Kernel : public Launcher<false, P...> {
public:
  explicit Kernel(std::shared_ptr<detail::KernelRecord> record)
      : Launcher<false, P...>(record), record_(std::move(record)) {}

  /// Names for the parameters, in order, used in messages: C++ cannot see those of the lambda.
  template <class... Names> Kernel named(Names... names) const {
    static_assert(sizeof...(Names) == sizeof...(P),
                  "named(...) needs one name for each parameter of the kernel");
    record_->paramNames = {std::string(names)...};
    return *this;
  }
  /// The same for kernels made by templates, whose parameters are counted elsewhere: one name each.
  Kernel named(std::vector<std::string> names) const {
    names.resize(sizeof...(P));
    record_->paramNames = std::move(names);
    return *this;
  }

private:
  std::shared_ptr<detail::KernelRecord> record_;
};

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

/// Makes a kernel of a lambda without captures. `name` becomes the function's name in PTX and in
/// messages. The lambda is what a kernel is known by: where this runs again, as in a function, the
/// kernel it makes is the same one, compiled once. What the body reads of the host's state must
/// therefore not change.
template <class F> auto kernel(std::string name, F function, Loc where = Loc::here()) {
  if constexpr (std::is_pointer_v<F>)
    static_assert(detail::kAlwaysFalse<F>,
                  "kernel() takes a lambda, not a function: call the function in a lambda with its "
                  "parameters, as in kernel(name, [](In<f32, 1> x) { body(x); })");
  else if constexpr (!std::is_empty_v<F>)
    static_assert(
        detail::kAlwaysFalse<F>,
        "kernel() takes a lambda without captures: pass host numbers as Const parameters, or "
        "use kernel_capturing(key, name, lambda)");
  else
    return detail::kernelOf(std::move(name), {&detail::kLambda<F>, ""}, std::move(function), where);
}

/// Makes a kernel of a lambda that captures host state. Kernels of one name and key share compiled code, even across
/// calls of this function, unless they capture different numbers: a lambda that captures numbers and pointers alone is
/// told apart by their bytes. `key` must differ whenever other state does: strings, vectors, what references refer to.
template <class F>
auto kernel_capturing(std::string key, std::string name, F function, Loc where = Loc::here()) {
  return detail::kernelOf(std::move(name),
                          {nullptr, detail::keyWithCaptures(std::move(key), function)},
                          std::move(function), where);
}

/// The kernel's tile IR as text, traced and verified for these constants without a device: a unit
/// test of the kernel that runs anywhere, as in `tileIr(matmul.consts(128, 128, 64))`. `anyTypes`
/// are the dtypes of its views of `any` dtype. Errors: those of the kernel itself, and too few
/// `anyTypes`.
template <bool HasConsts, class... P>
std::string tileIr(const Launcher<HasConsts, P...> &launcher,
                   const std::vector<DType> &anyTypes = {}) {
  static_assert(HasConsts || Launcher<HasConsts, P...>::kConsts == 0,
                "the kernel has Const parameters: call .consts(...) before tracing it");
  return detail::tileIr(launcher.record(), launcher.constants(), launcher.options().compile,
                        anyTypes);
}

/// A row-major tensor argument without memory, as an example of what a kernel is compiled for.
/// Error: an extent that is negative or makes the tensor larger than 2^63 elements.
detail::HostArg exampleView(DType dtype, std::vector<int64_t> extents);
/// A scalar argument of that dtype, whose value is open.
detail::HostArg exampleScalar(DType dtype);
/// A scalar argument with a value, for kernels that ask for it (Specialize.h). Error: a number that the dtype cannot
/// hold.
detail::HostArg exampleScalar(DType dtype, Arg value);

/// The same for example arguments, one a parameter without the Const ones:
///   tileIr(filter.consts(256), {exampleView(f32, {1000}), exampleView(f32, {1000}), exampleScalar(i32, 3)})
template <bool HasConsts, class... P>
std::string tileIr(const Launcher<HasConsts, P...> &launcher,
                   std::initializer_list<detail::HostArg> arguments) {
  static_assert(HasConsts || Launcher<HasConsts, P...>::kConsts == 0,
                "the kernel has Const parameters: call .consts(...) before tracing it");
  return detail::tileIr(launcher.record(), launcher.constants(), launcher.options().compile,
                        std::span<const detail::HostArg>(arguments.begin(), arguments.size()));
}

} // namespace tile
