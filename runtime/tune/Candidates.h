// The settings of a kernel that are worth a trial for a problem, the most promising first, and why the others are left out.
#pragma once

#include "runtime/tune/Model.h"
#include "runtime/tune/Space.h"

#include <map>
#include <string>
#include <vector>

namespace tile::tune {

/// Settings to try.
struct Candidate {
  Config config;
  double seconds = 0; ///< by the model; 0 if there is none of the device, or of the kernel
};

struct Candidates {
  std::vector<Candidate> ordered;
  /// How many are left out for each reason, and the first of them.
  struct LeftOut {
    int64_t count = 0;
    Config first;
  };
  std::map<std::string, LeftOut> leftOut;
  bool isComplete = true; ///< false: there are more combinations than are looked at
  bool isModelled = false;
};

/// Those of a problem. Without a model they are ordered by how many settings differ from the kernel's own choice.
Candidates candidatesOf(const detail::KernelRecord &record, const TuningSpace &space,
                        const Problem &problem);

/// What the model says of one set of settings; nothing if it cannot.
std::optional<Estimate> estimateOf(const TuningSpace &space, const Config &config,
                                   const Problem &problem);

/// The seconds that the products of a launch, at the rate that the device keeps up, or the bytes of memory take at least.
std::optional<double> rooflineOf(const TuningSpace &space, const Config &config,
                                 const Problem &problem);

} // namespace tile::tune
