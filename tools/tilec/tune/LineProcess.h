// This program once more, in a process that takes lines and answers with lines: what it does wrong ends it alone.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tile::tilec {

class LineProcess {
public:
  /// Starts `tilec ARGUMENTS...`, in a group of its own and only as long as this process lives. Error: IoError.
  explicit LineProcess(const std::vector<std::string> &arguments);
  /// Ends it, whatever it does.
  ~LineProcess();
  LineProcess(const LineProcess &) = delete;
  LineProcess &operator=(const LineProcess &) = delete;

  /// Sends a line; false if nobody reads any more.
  bool send(const std::string &line);

  enum class Answer : uint8_t { Line, TooLate, Gone };
  /// Waits for a line.
  Answer receive(std::string &line, std::chrono::milliseconds limit);
  /// Why it is gone: "killed by Segmentation fault", "exit code 3".
  std::string death();

private:
  pid_t process_ = -1;
  int toProcess_ = -1, fromProcess_ = -1;
  std::string read_; ///< behind the last line that was handed out
};

/// In such a process: the stream that answers go to. What is printed goes to standard error from here on.
int takeAnswerStream();

} // namespace tile::tilec
