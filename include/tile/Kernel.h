// Kernels: a named lambda over views, scalars and constants, and how to launch it.
//
//   auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, Const B) {
//     Value i = grid1d(y, {B});
//     y.tile({B})(i) = x.tile({B})(i) * s;
//   });
//   scale.consts(1024)(stream, a, b, 0.5f);
//
// Parameters are In, Out, InOut, Scalar<dtype>, Const and ConstOf<T>, by value. Const parameters
// are given to `consts(...)` in their order; the others are the arguments of the call, after the
// stream. Number, dtype and rank of arguments are checked at compile time where their C++ type
// allows it, and otherwise when the kernel is called (Error, InvalidArgument).
//
// Tensors are Tensor, TensorOf, `ref(...)` of memory that others own, or any class with dtype(),
// rank(), extent(dim), stride(dim) and data(); HostArg.h describes how other classes become one.
#pragma once

#include <tile/Ref.h>
#include <tile/View.h>
#include <tile/detail/Arguments.h>
#include <tile/detail/MakeKernel.h>
#include <tile/detail/Tuning.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tile {

/// The stream of a call and the line of the caller, for messages. A stream converts to it
/// implicitly. Functions that launch for others pass on their own caller's line:
/// `scale.consts(1024)(CallSite(stream, loc), a, b)`.
struct CallSite {
  const Stream &stream;
  Loc where;
  CallSite(const Stream &stream, Loc where = Loc::here()) : stream(stream), where(where) {}
};

/// A kernel with launch settings, ready to call: `matmul.consts(128, 128, 64).warps(4)(stream, a,
/// b, c)`. Each setting returns a new launcher. Keeping a launcher saves no time: every call looks
/// the kernel up by its settings.
template <bool HasConsts, class... P> class Launcher {
public:
  static constexpr int kConsts = (0 + ... + (detail::kIsConst<P> ? 1 : 0));
  static constexpr int kArguments = sizeof...(P) - kConsts;

  explicit Launcher(std::shared_ptr<const detail::KernelRecord> record)
      : record_(std::move(record)) {}

  /// The values of the kernel's Const parameters, in their order: integers, or a T for ConstOf<T>.
  template <class... N> [[nodiscard]] Launcher<true, P...> consts(N... values) const {
    static_assert(sizeof...(N) == kConsts,
                  "consts(...) needs one number for each Const parameter of the kernel");
    Launcher<true, P...> result(record_);
    result.options_ = options_;
    if constexpr (sizeof...(N) == kConsts)
      result.setConstants(detail::ConstParams<P...>(), values...);
    return result;
  }
  /// Warps per program: a power of two; 4 by default.
  [[nodiscard]] Launcher warps(int count) const {
    Launcher result = *this;
    result.options_.compile.warps = count;
    return result;
  }
  /// The most registers a thread may use, 16 to 255. With fewer, more threads fit a multiprocessor,
  /// but values that do not fit are spilled.
  [[nodiscard]] Launcher maxnreg(int count) const {
    Launcher result = *this;
    result.options_.compile.maxRegisters = count;
    return result;
  }
  /// How many programs must be resident on a multiprocessor at once, 1 to 32: limits registers.
  [[nodiscard]] Launcher occupancy(int programs) const {
    Launcher result = *this;
    result.options_.compile.occupancy = programs;
    return result;
  }
  /// Whether a * b + c may be rounded once instead of twice; true by default.
  [[nodiscard]] Launcher fp_fusion(bool allowed) const {
    Launcher result = *this;
    result.options_.compile.fpFusion = allowed;
    return result;
  }
  /// Whether f32 arithmetic flushes inputs and results below 2^-126 (denormals) to zero; false by
  /// default.
  [[nodiscard]] Launcher ftz(bool flush = true) const {
    Launcher result = *this;
    result.options_.compile.flushDenormals = flush;
    return result;
  }
  /// A checked build: the kernel asserts what it otherwise assumes, and a launch that violates an
  /// assertion ends with an error at its line. Asserted are: device_assert; promises (multiple_of,
  /// assume, `.unchecked()`); no overflow of + - * and unary - on integers below 64 bits; defined
  /// integer division; gather indices in range. TILE_CHECKED=1 checks all kernels.
  [[nodiscard]] Launcher checked(bool on = true) const {
    Launcher result = *this;
    result.options_.compile.checked = on;
    return result;
  }
  /// Compiles once for all arguments of these dtypes: the kernel does not depend on alignments,
  /// unit strides or divisible extents of the arguments, but still on whether offsets exceed 2^31.
  /// There are fewer kernels, and they are slower.
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

  /// Launches on the stream, and compiles for these dtypes and constants on first use. Errors: see
  /// the head of this file; an error in the kernel itself is thrown here, with the kernel's line.
  template <class... X> void operator()(CallSite site, const X &...arguments) const {
    static_assert(HasConsts || kConsts == 0,
                  "the kernel has Const parameters: call .consts(...) before launching it");
    static_assert(sizeof...(X) == kArguments,
                  "the call needs one argument, after the stream, for each parameter of the "
                  "kernel that is not a Const");
    if constexpr (sizeof...(X) == kArguments && (HasConsts || kConsts == 0))
      call(detail::RuntimeParams<P...>(), site, arguments...);
  }

  /// Compiles and loads what a call with such arguments needs, without launching: for example at
  /// start-up. `place` is a device, or a stream and its options. Errors: as for the call.
  template <class... X> void prepare(const CallPlace &place, const X &...arguments) const {
    static_assert(HasConsts || kConsts == 0,
                  "the kernel has Const parameters: call .consts(...) before preparing it");
    static_assert(sizeof...(X) == kArguments,
                  "prepare needs one argument, after the place, for each parameter of the "
                  "kernel that is not a Const");
    if constexpr (sizeof...(X) == kArguments && (HasConsts || kConsts == 0))
      prepareFor(detail::RuntimeParams<P...>(), place, arguments...);
  }

  /// For the runtime.
  const detail::KernelRecord &record() const { return *record_; }
  std::span<const int64_t> constants() const { return {consts_, static_cast<size_t>(kConsts)}; }
  const detail::LaunchOptions &options() const { return options_; }

private:
  template <bool, class...> friend class Launcher;
  template <class... C, class... N> void setConstants(detail::Params<C...>, const N &...values) {
    int i = 0;
    ((consts_[i++] = detail::constantOf<C>(values)), ...);
  }
  template <class... Runtime, class... X>
  void call(detail::Params<Runtime...> params, CallSite site, const X &...arguments) const {
    detail::LaunchOptions options = options_;
    options.call = site.where;
    auto launch = [&](std::span<const HostArg> args) {
      detail::launch(*record_, site.stream, args, constants(), options);
    };
    detail::withArguments(params, *record_, site.where, launch, arguments...);
  }
  template <class... Runtime, class... X>
  void prepareFor(detail::Params<Runtime...> params, const CallPlace &place,
                  const X &...arguments) const {
    auto prepare = [&](std::span<const HostArg> args) {
      detail::prepare(*record_, place, args, constants(), options_);
    };
    detail::withArguments(params, *record_, options_.call, prepare, arguments...);
  }

  std::shared_ptr<const detail::KernelRecord> record_;
  int64_t consts_[kConsts + 1] = {};
  detail::LaunchOptions options_;
};

/// A kernel with tuned constants and settings, ready to call; see Tuning.h.
template <class... P> class TunedLauncher {
public:
  static constexpr int kConsts = Launcher<false, P...>::kConsts;
  static constexpr int kArguments = Launcher<false, P...>::kArguments;
  static_assert(kConsts <= 64, "a tuned kernel has at most 64 constants");

  explicit TunedLauncher(std::shared_ptr<const detail::KernelRecord> record)
      : record_(std::move(record)) {}

  /// The value of a constant that is not tuned, by its name in `named(...)`: an integer, a bool or
  /// an enumerator. Error: InvalidArgument if there is no such constant, or if it is tuned.
  template <class T>
  requires(HostInt<T> || std::same_as<T, bool> || std::is_enum_v<T>) [[nodiscard]] TunedLauncher
      with(std::string_view name, T value, Loc where = Loc::here()) const {
    TunedLauncher result = *this;
    int place = detail::givenConstant(*record_, name, where);
    result.consts_[place] = static_cast<int64_t>(value);
    result.given_ |= uint64_t{1} << place;
    return result;
  }

  /// Launches with the best known settings for such arguments. Errors: those of a launch;
  /// InvalidArgument for a constant that is neither given nor tuned.
  template <class... X> void operator()(CallSite site, const X &...arguments) const {
    static_assert(sizeof...(X) == kArguments,
                  "the call needs one argument, after the stream, for each parameter of the "
                  "kernel that is not a Const");
    if constexpr (sizeof...(X) == kArguments) {
      auto launch = [&](std::span<const HostArg> args) {
        int64_t consts[kConsts + 1];
        std::copy_n(consts_, kConsts, consts);
        detail::launchTuned(*record_, site.stream, args, {{consts, size_t{kConsts}}, given_},
                            site.where);
      };
      detail::withArguments(detail::RuntimeParams<P...>(), *record_, site.where, launch,
                            arguments...);
    }
  }
  /// Compiles and loads what a call with such arguments needs, without launching.
  template <class... X> void prepare(const CallPlace &place, const X &...arguments) const {
    static_assert(sizeof...(X) == kArguments,
                  "prepare needs one argument, after the place, for each parameter of the "
                  "kernel that is not a Const");
    if constexpr (sizeof...(X) == kArguments) {
      auto prepare = [&](std::span<const HostArg> args) {
        int64_t consts[kConsts + 1];
        std::copy_n(consts_, kConsts, consts);
        detail::prepareTuned(*record_, place, args, {{consts, size_t{kConsts}}, given_});
      };
      detail::withArguments(detail::RuntimeParams<P...>(), *record_, Loc(), prepare, arguments...);
    }
  }
  /// The settings that a launch with such arguments would use. Errors: those of the call, but
  /// nothing is compiled.
  template <class... X> TunedChoice choice(const Device &device, const X &...arguments) const {
    static_assert(sizeof...(X) == kArguments,
                  "choice needs one argument, after the device, for each parameter of the "
                  "kernel that is not a Const");
    TunedChoice result;
    if constexpr (sizeof...(X) == kArguments) {
      TunedLauncher given = *this;
      auto choose = [&](std::span<const HostArg> args) {
        result = detail::tunedChoice(*record_, device, args, given.constants());
      };
      detail::withArguments(detail::RuntimeParams<P...>(), *record_, Loc(), choose, arguments...);
    }
    return result;
  }

private:
  detail::TunedConstants constants() { return {{consts_, size_t{kConsts}}, given_}; }

  std::shared_ptr<const detail::KernelRecord> record_;
  int64_t consts_[kConsts + 1] = {};
  uint64_t given_ = 0;
};

/// What `kernel()` returns: a launcher without constants, cheap to copy.
template <class... P> class Kernel : public Launcher<false, P...> {
public:
  explicit Kernel(std::shared_ptr<detail::KernelRecord> record)
      : Launcher<false, P...>(record), record_(std::move(record)) {}

  /// Names for the parameters, in order, for messages: C++ cannot see those of the lambda.
  template <class... Names> Kernel named(Names... names) const {
    static_assert(sizeof...(Names) == sizeof...(P),
                  "named(...) needs one name for each parameter of the kernel");
    record_->paramNames = {std::string(names)...};
    return *this;
  }
  /// The same for kernels made by templates, whose parameters are counted elsewhere: one name per
  /// parameter.
  Kernel named(std::vector<std::string> names) const {
    names.resize(sizeof...(P));
    record_->paramNames = std::move(names);
    return *this;
  }

  /// The values that a constant, or a setting of the launch (`warps`, `maxnreg`, `occupancy`), may
  /// take in launches of `tuned()`. `otherwise` is used while nothing better is known; by default
  /// it is the first of the values. Errors: InvalidArgument for a name that is neither, one that is
  /// tuned already, and values it cannot have.
  Kernel tunable(std::string name, Choices values, std::optional<int64_t> otherwise = {},
                 Loc where = Loc::here()) const {
    detail::addTunable(*record_, std::move(name), std::move(values), otherwise, where);
    return *this;
  }
  /// A condition that all settings to try must satisfy; `says` is the reason shown for the others.
  Kernel where(std::string says, detail::TuningRule holds) const {
    return unless([says = std::move(says), holds = std::move(holds)](const Config &config,
                                                                     const Problem &problem) {
      return holds(config, problem) ? std::string() : says;
    });
  }
  /// The same for many rules: `objection` returns what is wrong with settings for a problem, or an
  /// empty string if they may be tried.
  Kernel unless(detail::TuningObjection objection) const {
    detail::addTuningObjection(*record_, std::move(objection));
    return *this;
  }
  /// The settings for a problem for which nothing better is known.
  Kernel otherwise(detail::TuningDefault settings) const {
    detail::setTuningDefault(*record_, std::move(settings));
    return *this;
  }
  /// The work of a launch with given settings, so that the tuner tries the most promising first.
  Kernel work(detail::TuningWork work) const {
    detail::setTuningWork(*record_, std::move(work));
    return *this;
  }
  /// A launcher that chooses what is tuned for each call.
  TunedLauncher<P...> tuned() const { return TunedLauncher<P...>(record_); }

private:
  std::shared_ptr<detail::KernelRecord> record_;
};

/// Makes a kernel of a lambda without captures. `name` becomes the function's name in PTX and in
/// messages. The lambda identifies the kernel: if this call runs again, as in a function, it makes
/// the same kernel, compiled once. Host state that the body reads must therefore not change.
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

/// Makes a kernel of a lambda that captures host state. Kernels of one name and key share compiled
/// code, even across calls of this function, unless they capture different numbers: lambdas that
/// capture only numbers and pointers are distinguished by their bytes. `key` must differ whenever
/// other state does: strings, vectors, what references refer to.
template <class F>
auto kernel_capturing(std::string key, std::string name, F function, Loc where = Loc::here()) {
  return detail::kernelOf(std::move(name),
                          {nullptr, detail::keyWithCaptures(std::move(key), function)},
                          std::move(function), where);
}

} // namespace tile
