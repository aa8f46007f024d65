// Kernels: a lambda over views, scalars and constants, given a name, and how to launch it.
//
//   auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, Const B) {
//     Value i = grid1d(y, {B});
//     y.tile({B})(i) = x.tile({B})(i) * s;
//   });
//   scale.consts(1024)(stream, a, b, 0.5f);
//
// Parameters are In, Out, InOut, Scalar<dtype>, Const and ConstOf<T>, by value. Const parameters
// are given to `consts(...)` in their order; the others are the arguments of the call, after the
// stream. Number, dtype and rank of arguments are checked at compile time where their C++ type says
// enough, and when called otherwise (Error, InvalidArgument).
//
// Tensors are Tensor, TensorOf, `ref(...)` of memory that others own, or any class with dtype(),
// rank(), extent(dim), stride(dim) and data(); HostArg.h says how other classes become one.
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

/// The stream of a call and the line it is made from, for messages. Made by itself from a stream;
/// functions that launch for others hand on the line of their own caller:
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

  /// The values of the kernel's Const parameters, in their order: integers, of a ConstOf<T> a T.
  template <class... N> [[nodiscard]] Launcher<true, P...> consts(N... values) const {
    static_assert(sizeof...(N) == kConsts,
                  "consts(...) needs one number for each Const parameter of the kernel");
    Launcher<true, P...> result(record_);
    result.options_ = options_;
    if constexpr (sizeof...(N) == kConsts)
      result.setConstants(detail::ConstParams<P...>(), values...);
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
  /// One compile for all arguments of these dtypes: no alignments, unit strides or divisible
  /// extents are read from them, except that offsets beyond 2^31 are still noticed. Slower kernels,
  /// fewer of them.
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
      call(detail::RuntimeParams<P...>(), site, arguments...);
  }

  /// Compiles and loads what a call with such arguments needs, without launching: at start-up, say.
  /// For a device, or for a stream and its options. Errors: as for the call.
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

/// A kernel some of whose constants and settings are tuned, ready to call: Tuning.h.
template <class... P> class TunedLauncher {
public:
  static constexpr int kConsts = Launcher<false, P...>::kConsts;
  static constexpr int kArguments = Launcher<false, P...>::kArguments;
  static_assert(kConsts <= 64, "a tuned kernel has at most 64 constants");

  explicit TunedLauncher(std::shared_ptr<const detail::KernelRecord> record)
      : record_(std::move(record)) {}

  /// The value of a constant that is not tuned, by its name in `named(...)`: an integer, a bool or
  /// a constant of an enum. Error: InvalidArgument if there is none of this name, or if it is
  /// tuned.
  template <class T>
  requires(HostInt<T> || std::same_as<T, bool> || std::is_enum_v<T>) [[nodiscard]] TunedLauncher
      with(std::string_view name, T value, Loc where = Loc::here()) const {
    TunedLauncher result = *this;
    int place = detail::givenConstant(*record_, name, where);
    result.consts_[place] = static_cast<int64_t>(value);
    result.given_ |= uint64_t{1} << place;
    return result;
  }

  /// Launches with the settings that are best for such arguments, as far as that is known. Errors:
  /// those of a launch; InvalidArgument for a constant that is neither given nor tuned.
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
  /// What a launch with such arguments would take. Errors: those of the call, but nothing is
  /// compiled.
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

  /// The values that a constant may take in launches of `tuned()`; or `warps`, `maxnreg` and
  /// `occupancy`, the settings of a launch. `otherwise` is taken while nothing better is known; the
  /// first of the values, unless it is given. Errors: InvalidArgument for a name that is neither,
  /// one that is tuned already, and values it cannot have.
  Kernel tunable(std::string name, Choices values, std::optional<int64_t> otherwise = {},
                 Loc where = Loc::here()) const {
    detail::addTunable(*record_, std::move(name), std::move(values), otherwise, where);
    return *this;
  }
  /// What holds for all settings that are tried: `says` tells users why others are left out.
  Kernel where(std::string says, detail::TuningRule holds) const {
    return unless([says = std::move(says), holds = std::move(holds)](const Config &config,
                                                                     const Problem &problem) {
      return holds(config, problem) ? std::string() : says;
    });
  }
  /// The same for many rules: `objection` says what is wrong with settings for a problem, and
  /// nothing if they may be tried.
  Kernel unless(detail::TuningObjection objection) const {
    detail::addTuningObjection(*record_, std::move(objection));
    return *this;
  }
  /// The settings to take for a problem of which nothing better is known.
  Kernel otherwise(detail::TuningDefault settings) const {
    detail::setTuningDefault(*record_, std::move(settings));
    return *this;
  }
  /// What a launch has to do with some settings, so that the tuner tries the most promising first.
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

/// Makes a kernel of a lambda that captures host state. Kernels of one name and key share compiled
/// code, even across calls of this function, unless they capture different numbers: a lambda that
/// captures numbers and pointers alone is told apart by their bytes. `key` must differ whenever
/// other state does: strings, vectors, what references refer to.
template <class F>
auto kernel_capturing(std::string key, std::string name, F function, Loc where = Loc::here()) {
  return detail::kernelOf(std::move(name),
                          {nullptr, detail::keyWithCaptures(std::move(key), function)},
                          std::move(function), where);
}

} // namespace tile
