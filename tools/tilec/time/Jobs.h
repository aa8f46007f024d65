// Launches described by data: a JSON object a line, so that a script can time thousands of kernels
// in one process.
#pragma once

#include <istream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace tile::tilec {

struct JobOptions {
  std::vector<std::string> settings; ///< NAME=VALUE of the calibration
  bool cyclesOnly = false;           ///< prints "id<TAB>cycles"
};

/// The numbers that these settings name. Error: InvalidArgument for a word that is no NAME=VALUE.
std::vector<std::pair<std::string, double>> settingsOf(const JobOptions &options);

/// Times each job and prints a JSON object a line. A job that cannot be timed prints {"id",
/// "error"}. Returns the number of those.
int runJobs(std::istream &jobs, std::ostream &out, const JobOptions &options);

} // namespace tile::tilec
