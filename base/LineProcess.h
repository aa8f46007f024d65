// A process that takes lines and answers with lines: what it does wrong ends it alone.
#pragma once

#include "base/Fork.h"

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tile::base {

/// What to start.
struct LineProgram {
  std::string path;
  std::vector<std::string> arguments;    ///< behind the program's name
  std::vector<std::string> without = {}; ///< variables of the environment that it does not get
};

/// How a process ended: by a signal, or with a code; both are 0 if that cannot be known.
struct ProcessEnd {
  int signal = 0, code = 0;
  /// "killed by Segmentation fault", "ended with exit code 3"
  std::string text() const;
};

/// A process in a group of its own, which it is killed with. It learns that this process is gone from the end of its input.
class LineProcess {
public:
  /// Error: IoError, with the system's words.
  explicit LineProcess(const LineProgram &program);
  /// Ends it and all that it started, whatever they do; not in a child that was forked.
  ~LineProcess();
  LineProcess(const LineProcess &) = delete;
  LineProcess &operator=(const LineProcess &) = delete;

  enum class Answer : uint8_t { Line, TooLate, Gone };
  /// Sends a line; `Line` if it was taken in time.
  Answer send(const std::string &line, std::chrono::milliseconds limit = std::chrono::hours(1));
  /// Waits for a line.
  Answer receive(std::string &line, std::chrono::milliseconds limit);
  /// Waits until it is gone, as it is known to be.
  ProcessEnd end();

private:
  pid_t process_ = -1;
  MadeInProcess owner_;
  int stream_ = -1;  ///< in both directions
  std::string read_; ///< behind the last line that was handed out
};

} // namespace tile::base
