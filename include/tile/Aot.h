// Kernels that `tilec aot` has compiled ahead of time: programs launch them without the compiler.
// Link tile::rt, which needs neither LLVM nor MLIR. docs/aot.md has the whole way.
//
//   #include "kernels.h" // made by `tilec aot kernels.cpp -o .`, with kernels.c beside it
//
//   tile::Device device = tile::Device::open("auto");
//   tile::Stream stream = device.stream();
//   kernels::scale(stream, x, y, 0.5f); // as the kernel itself would be called
//
// A function is compiled for one or more GPUs, and for each in variants: one for arguments like
// those that `tilec aot` was told of (aligned, extents that its tiles divide), others for any
// alignment, stride and extent. A call takes the first that its arguments allow.
//
// Code is loaded by the first call that takes it, or by prepare(), and stays loaded until the
// process ends. All of it may be called by several threads.
#pragma once

#include <tile/Kernel.h>
#include <tile/Tensor.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tile {

namespace aot {
class Kernels;
class LoadedFunction;
} // namespace aot

/// What a function takes: a view to read, write or both, or a number.
struct ArchivedParameter {
  std::string name;
  detail::ParamSpec::Kind kind;
  DType dtype;
  int rank; ///< of a view; else 0
};

/// A function of an archive whose parameters are known when the program runs; KernelArchive.
class ArchivedFunction {
public:
  const std::string &name() const;
  std::vector<ArchivedParameter> parameters() const;
  /// The constants that it was compiled with.
  const std::vector<std::pair<std::string, int64_t>> &constants() const;
  /// The GPUs it was compiled for, "sm_80", "sm_90a".
  std::vector<std::string> targets() const;

  /// Launches it. Errors: those of a kernel's call, and Unsupported where no variant is for the
  /// device or for arguments like these, saying why.
  void launch(CallSite site, std::span<const HostArg> arguments) const;
  /// Loads all that calls on this device may need: at start-up, or before a graph is captured.
  void prepare(const Device &device, Loc where = Loc::here()) const;

  /// For messages.
  const detail::KernelRecord &record() const;

private:
  friend class KernelArchive;
  ArchivedFunction(std::shared_ptr<const aot::Kernels> kernels, aot::LoadedFunction &function)
      : kernels_(std::move(kernels)), function_(&function) {}
  std::shared_ptr<const aot::Kernels> kernels_;
  aot::LoadedFunction *function_;
};

/// The functions that one run of `tilec aot` has compiled. Cheap to copy.
class KernelArchive {
public:
  /// Reads NAME.tilekernels. Errors: IoError; Parse, if the file is damaged or of another version.
  static KernelArchive open(const std::string &path, Loc where = Loc::here());
  /// From bytes in memory, which may go afterwards; `source` is what messages call them.
  static KernelArchive of(std::span<const std::byte> bytes, const std::string &source,
                          Loc where = Loc::here());

  std::vector<std::string> names() const;
  /// Error: InvalidArgument listing the functions there are.
  ArchivedFunction function(const std::string &name, Loc where = Loc::here()) const;

private:
  explicit KernelArchive(std::shared_ptr<const aot::Kernels> kernels)
      : kernels_(std::move(kernels)) {}
  std::shared_ptr<const aot::Kernels> kernels_;
};

namespace detail {
/// A function of an archive among the program's own bytes, which is opened once. It stays.
const ArchivedFunction &embeddedFunction(const unsigned char *bytes, size_t size, const char *name);
} // namespace detail

/// A function whose parameters are P, In<f32, 1> and so on: what generated headers define. Calls
/// are checked at compile time as those of the kernel are.
template <class... P> class AotFunction {
public:
  /// A function of an archive in memory, which must stay where it is. Nothing is read before the
  /// first use.
  constexpr AotFunction(const unsigned char *bytes, size_t size, const char *name)
      : bytes_(bytes), size_(size), name_(name) {}

  /// Launches it; see ArchivedFunction::launch.
  template <class... X> void operator()(CallSite site, const X &...arguments) const {
    static_assert(sizeof...(X) == sizeof...(P),
                  "the call needs one argument, after the stream, for each parameter");
    if constexpr (sizeof...(X) == sizeof...(P)) {
      const ArchivedFunction &function = get();
      int place = 0;
      const HostArg args[sizeof...(X) + 1] = {
          detail::checkedArg<P>(arguments, {&function.record(), site.where, place++})...};
      function.launch(site, {args, sizeof...(X)});
    }
  }
  /// Loads all that calls on this device may need.
  void prepare(const Device &device, Loc where = Loc::here()) const {
    get().prepare(device, where);
  }
  const ArchivedFunction &get() const {
    const ArchivedFunction *known = found_.load(std::memory_order_acquire);
    if (!known)
      found_ = known = &detail::embeddedFunction(bytes_, size_, name_);
    return *known;
  }

private:
  const unsigned char *bytes_;
  size_t size_;
  const char *name_;
  mutable std::atomic<const ArchivedFunction *> found_ = nullptr; ///< what get() has found
};

} // namespace tile
