// The functions of an archive and their code on devices, which is loaded when it is first needed.
#pragma once

#include "base/ForkLocks.h"
#include "runtime/aot/Archive.h"
#include "runtime/aot/Target.h"
#include "runtime/host/Start.h"
#include "runtime/host/State.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace tile::aot {

/// A variant on a device.
struct LoadedVariant {
  const Variant *variant = nullptr;
  std::unique_ptr<launch::LoadedKernel> kernel; ///< null until a call takes it
  std::atomic<bool> isLoaded = false;           ///< for those who do not hold the lock
};

class LoadedFunction {
public:
  explicit LoadedFunction(Function function);

  const Function &function() const { return function_; }
  const detail::KernelRecord &record() const { return record_; }

  /// Checks the arguments, loads what they need if they are the first to need it, and launches. Errors: those of a
  /// kernel's call; Unsupported where no variant is for the device or for such arguments.
  void launch(detail::StreamState &stream, std::span<const detail::HostArg> args,
              const detail::LaunchOptions &options);

  /// Loads all that calls on this device may need. Error: Unsupported where nothing is for it.
  void load(detail::DeviceState &device);

private:
  std::deque<LoadedVariant> &variantsFor(detail::DeviceState &device);
  const launch::LoadedKernel &loaded(LoadedVariant &variant, detail::DeviceState &device);
  LoadedVariant &variantFor(detail::StreamState &stream, std::span<const detail::HostArg> args);
  /// The kernel for a call, after all checks of its arguments.
  launch::RecentCall kernelFor(detail::StreamState &stream, std::span<const detail::HostArg> args);

  Function function_;
  detail::KernelRecord record_; ///< by which messages name the arguments; it has no body
  uint64_t id_;                 ///< of all functions of the process
  base::ForkMutex mutex_;       ///< guards what follows
  std::map<uint64_t, std::deque<LoadedVariant>> byDevice_;
};

/// An archive, open.
class Kernels {
public:
  explicit Kernels(Archive archive);

  const std::string &name() const { return name_; }
  std::span<const std::unique_ptr<LoadedFunction>> functions() const { return functions_; }
  /// Error: InvalidArgument listing the functions there are.
  LoadedFunction &function(const std::string &name, Loc where) const;

private:
  std::string name_;
  std::vector<std::unique_ptr<LoadedFunction>> functions_;
};

} // namespace tile::aot
