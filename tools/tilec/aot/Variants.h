// The variants of a function: code for arguments like an example's, and for all others.
#pragma once

#include "runtime/aot/Archive.h"
#include "tools/tilec/aot/Requests.h"

#include <string>
#include <vector>

namespace tile::tilec {

struct AotOptions {
  std::vector<std::string> targets;
  bool isForExampleAlone = false; ///< no other variants
  bool hasMachineCode = true;
  bool isForCallsInPlace = true; ///< with variants for them
  bool isDependent = false;      ///< the code waits itself for the launches before it
  std::string reproducer;
};

/// Adds the variants for one target. Of variants with the same code the least demanding stays. A variant for other arguments,
/// or for calls in place, that the kernel cannot have is left out, with a note on standard error. Errors: those of the compile.
void addVariants(aot::Function &function, const AotRequest &request, const std::string &target,
                 const AotOptions &options);

/// The function without variants.
aot::Function functionOf(const AotRequest &request);

} // namespace tile::tilec
