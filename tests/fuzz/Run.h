// A program on a device, compared with the host.
#pragma once

#include "passes/PassSwitches.h"
#include "tests/fuzz/Program.h"

namespace tile::fuzz {

enum class Verdict {
  Equal,
  Refused, ///< the compiler declines it in the user's terms, as it may
  Wrong    ///< another result, an internal error, or a finding of the virtual GPU
};

struct Outcome {
  Verdict verdict = Verdict::Equal;
  std::string words;
};

/// Compiles the program for so many warps, launches it and compares every element of its outputs
/// and of the memory it shares.
Outcome runOn(const Device &device, const Program &program, int warps);
/// The same, compiled without the passes that are left out, whatever the environment says.
Outcome runOn(const Device &device, const Program &program, int warps,
              const passes::PassSelection &selection);

/// A quarter of the optional passes on average, another choice for each seed.
passes::PassSelection somePassesLeftOut(uint64_t seed);

} // namespace tile::fuzz
