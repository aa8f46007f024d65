// Running PTX that may come from anywhere: nvcc, Triton, another compiler.
#pragma once

#include "tools/tilec/run/PtxArguments.h"
#include "tools/tilec/run/RunArguments.h"
#include "tools/tilec/run/Session.h"

namespace tile::tilec {

struct PtxLaunch {
  std::string entry; ///< empty: the only one
  std::optional<device::Dim3> grid, block, cluster;
  uint32_t sharedBytes = 0;
};

/// An entry of a file that is ready to be launched, on a device of its own. A virtual GPU becomes
/// what the PTX is for, unless a target is named. Errors: those of runPtx.
class PtxCall {
public:
  PtxCall(SessionOptions options, const std::string &file, const PtxLaunch &launch,
          const std::vector<std::string> &words);
  void launch();

  Session &session() { return *session_; }
  const std::vector<RunArgument> &arrays() const { return arguments_->arrays(); }
  const LaunchSummary &summary() const { return summary_; }

private:
  std::optional<Session> session_;
  std::optional<PtxArguments> arguments_;
  LaunchSummary summary_;
  std::vector<device::Arg> packed_;
  device::LaunchConfig config_;
  device::Function function_;
};

/// Launches an entry of the file with arguments in the order of its parameters, then writes what is kept; returns the
/// exit code. A virtual GPU becomes what the PTX is for, unless a target is named. Errors: InvalidArgument for entries,
/// shapes and arguments that do not fit; Unsupported for syntax that is not understood and instructions that are not
/// known.
int runPtx(SessionOptions options, const std::string &file, const PtxLaunch &launch,
           const std::vector<std::string> &words);

/// "128", "128,2", "128,2,1". Error: InvalidArgument naming the option.
device::Dim3 parseShape(const std::string &option, const std::string &text);

} // namespace tile::tilec
