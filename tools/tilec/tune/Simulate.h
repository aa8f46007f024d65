// `tilec tune --simulate FILE`: what the model and the search would have found in a recording, where all settings were timed.
#pragma once

#include <string>
#include <vector>

namespace tile::tilec {

/// Prints a line for each problem, and the means. The kernel is that of the words; recordings of others are passed over. Errors:
/// those of the file; InvalidArgument where it has nothing of the kernel.
int simulate(const std::vector<std::string> &words, const std::string &kernel,
             const std::string &recording);

} // namespace tile::tilec
