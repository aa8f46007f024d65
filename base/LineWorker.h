// The other side of a LineProcess: lines come by standard input, answers go where standard output was.
#pragma once

#include <string>

namespace tile::base {

class LineWorker {
public:
  /// From here on what is printed goes to standard error, no core is dumped, and the process ends, with all that it started, when
  /// the one that listens does.
  LineWorker();
  /// Answers. Ends the process if nobody listens.
  void answer(std::string line) const;

private:
  int answers_;
};

} // namespace tile::base
