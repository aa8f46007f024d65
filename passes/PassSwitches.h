// Which passes a compile leaves out, for finding the one that spoils a kernel. Only optional passes
// can be left out: those that make code better and never change what it computes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tile::passes {

struct OptionalPass {
  const char *name;    ///< without "tile-"
  const char *without; ///< what a kernel compiled without it has more of
};

/// All of them, in the order in which they first run; passes over LLVM IR come last.
const std::vector<OptionalPass> &optionalPasses();
/// Whether a name, with or without "tile-", is that of an optional pass.
bool isOptionalPass(std::string_view name);

/// What to leave out.
struct PassSelection {
  std::vector<std::string> disabled; ///< names of optional passes
  int64_t limit =
      -1; ///< how many executions of optional passes are allowed; negative: all, silently
};

/// The decisions of one compile, in the order it asks for them. With a limit, each is told on
/// standard error:
///
///   bisect: 3 run     cse
///   bisect: 4 skip    tile-combine-tile-ops
class PassSwitches {
public:
  explicit PassSwitches(const PassSelection &selection) : selection_(selection) {}

  bool isActive() const { return !selection_.disabled.empty() || selection_.limit >= 0; }
  /// Decides about the next execution; passes that are not optional always run.
  bool shouldRun(std::string_view pass);

private:
  const PassSelection &selection_;
  int64_t executions_ = 0;
};

} // namespace tile::passes
