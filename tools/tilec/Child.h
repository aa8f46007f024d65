// A compile in a process of its own, so that neither a crash nor an endless compile takes more than
// itself.
#pragma once

#include <tile/Error.h>

#include <string>
#include <vector>

namespace tile::tilec {

/// The exit codes of compile jobs, and of tilec itself.
enum ExitCode { kOk = 0, kFinding = 1, kBadInput = 2, kUnsupported = 3, kInternal = 70 };

/// The exit code of a run that ends with this error.
ExitCode exitCodeOf(const Error &error);

/// Compiles are bounded in time and memory; kernels may take what they need.
enum class ChildKind { Compile, Run };

/// Runs this program again with the arguments, and returns its exit
/// code; standard output and error are shared. A child that dies or takes too long gives kInternal,
/// and `input` (may be empty) is copied to a reproducer folder that the message names.
int runInChild(const std::vector<std::string> &arguments, const std::string &input,
               ChildKind kind = ChildKind::Compile);

} // namespace tile::tilec
