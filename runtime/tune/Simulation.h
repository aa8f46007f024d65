// A recorded space searched again: all settings of a problem were timed once, and the search is told those times. So strategies and the
// model are compared without a GPU, and how much time they lose against trying everything is a number that a test can hold.
#pragma once

#include "runtime/tune/Search.h"
#include "runtime/tune/Trial.h"

#include <vector>

namespace tile::tune {

/// What a search would have found in a recording of one problem. Regrets are parts by which settings are slower than the best
/// recorded ones.
struct Replay {
  std::string problem;
  Config best; ///< of the recording
  double bestMilliseconds = 0;
  int64_t recorded = 0; ///< settings
  std::optional<double>
      ownRegret;          ///< of the kernel's own settings; nothing if they were not recorded
  double modelRegret = 0; ///< of those that the model puts first
  std::vector<double> regretAfter; ///< of the best of the first trials, for each number of them
};

/// Replays the trials of one problem; those that are no settings of the space do not count. Error: InvalidArgument if none are
/// left.
Replay replay(const detail::KernelRecord &record, const Problem &problem,
              const std::vector<Trial> &recording);

} // namespace tile::tune
