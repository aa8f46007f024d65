// Mutants of kernels that this compiler has made of loops with rings: PTX that lacks one wait, group, barrier or guard, or
// copies to the wrong place, too few bytes, or round the wrong number of slots.
#pragma once

#include <string>
#include <vector>

namespace tile::test {

struct CompiledMutant {
  std::string what; ///< the kind of change
  std::string line; ///< where, and what stands there
  std::string ptx;
  /// Why the mutant computes the same, if a rule says that it may; it need not show.
  std::string excuse;
};

/// All mutants of a module of one kernel.
std::vector<CompiledMutant> compiledMutantsOf(const std::string &ptx);

} // namespace tile::test
