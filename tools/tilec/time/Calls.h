// What `tilec time` can be asked about: calls of an op, of a kernel in C++, of PTX, on memory
// without contents.
#pragma once

#include "tools/tilec/run/RunPtx.h"

#include <tile/Registry.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile::tilec {

struct CallOptions {
  std::vector<std::string> words; ///< the input, then settings or arguments
  std::string target;             ///< empty: that of the PTX, else of the calibration
  std::string kernel;
  PtxLaunch ptx; ///< of FILE.ptx alone
};

struct TimedCall {
  Device device;
  std::function<void()> launch;
  /// The kernel of the launch of that number, if it is one of the language; InvalidArgument beyond
  /// the last.
  std::function<std::optional<KernelRequest>(size_t)> request;
  std::shared_ptr<void> kept; ///< what `launch` needs
};

/// Errors: InvalidArgument for words that are no such call, and settings that it does not have;
/// those of the op.
TimedCall timedCall(const CallOptions &options);

} // namespace tile::tilec
