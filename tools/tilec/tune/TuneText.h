// What `tilec tune` tells people.
#pragma once

#include "runtime/tune/Tuner.h"

#include <string>

namespace tile::tilec {

/// A trial: "BM=128 BN=256 warps=8: 0.1523 ms +- 0.4 %".
std::string lineOf(const tune::Trial &trial);

/// Behind what was found best: ", 1.2 times as fast as the kernel's own", or why that stays.
std::string comparedWithOwn(const tune::TuneResult &result);
/// What tuning has found: the best, the kernel's own settings, what else was tried, and where it is kept.
std::string summaryOf(const tune::TunedCall &call, const tune::TuneResult &result,
                      const std::string &keptIn);

/// Which settings would be tried for a problem, in which order, and why the others are left out.
std::string explanationOf(const tune::TunedCall &call);

} // namespace tile::tilec
