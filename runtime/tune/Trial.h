// What was found out about one set of settings for one problem; as text, one JSON object a line, so that tables of results can be
// reviewed and kept with sources.
#pragma once

#include <tile/Tuning.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace tile::tune {

/// How a trial ended. Those behind `Modelled` are never chosen.
enum class Status : uint8_t {
  Timed,    ///< right, and its time was measured
  Modelled, ///< on a device without time: right as far as it was checked, and the model gave it one
  Refused,  ///< by the compiler: it needs more than there is, or the kernel says no
  Wrong,    ///< its results are not those of the reference
  Failed,   ///< it ended with an error
  Crashed,  ///< the process that tried it died
  TimedOut, ///< it took too long
};
const char *nameOf(Status status);

/// What a result is for.
struct TrialKey {
  std::string kernel;  ///< its name
  std::string version; ///< see versionOf
  std::string problem; ///< see problemKey
  std::string device;  ///< see deviceKey
  bool operator==(const TrialKey &) const = default;
};

struct Trial {
  TrialKey key;
  Config config;
  Status status = Status::Failed;
  double milliseconds = 0; ///< the median of its times, or the model's time; 0 of one without
  double spread = 0;       ///< half of the median's confidence interval, as part of the median
  int samples = 0;
  int clockMHz = 0;      ///< of the multiprocessors meanwhile; 0: not known
  bool isChosen = false; ///< of all tried together the one to take
  std::string
      shape; ///< the very problem that was tried, as a line of a file of shapes; may be empty
  std::string reason;    ///< of one that was not right: a sentence
  std::string doubt;     ///< of a time: why the device may have been slower than it is for others
  std::string toolchain; ///< the build of this library, and what made machine code
  std::string host;
  int64_t time = 0; ///< seconds since 1970
};

/// One line of a table, without its end.
std::string toJson(const Trial &trial);
/// A line of a table. Error: InvalidArgument, what is wrong with it; `line` counts from 1.
Trial trialOfJson(std::string_view text, const std::string &file, int line);
/// Those of a file of such lines; lines that are empty do not count. Errors: IoError; those of a line.
std::vector<Trial> readTable(const std::string &file);

} // namespace tile::tune
