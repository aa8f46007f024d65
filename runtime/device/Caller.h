// Who asks for launches on behalf of a program in another language: the line of that program, and the op and its arguments that
// it knows, of which reports then speak.
#pragma once

#include <tile/Error.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tile::device {

struct Caller {
  struct Argument {
    std::string name;
    bool isInput = true;
    uint64_t address = 0;
    size_t elementBytes = 1;
    std::vector<int64_t> extents, strides; ///< in elements
  };

  std::string op;
  Loc where;
  std::vector<Argument> arguments;
};

/// While it lives, launches of this thread are the caller's.
class CallerScope {
public:
  explicit CallerScope(std::shared_ptr<const Caller> caller);
  CallerScope(const CallerScope &) = delete;
  CallerScope &operator=(const CallerScope &) = delete;
  ~CallerScope();

  /// Of this thread, or null.
  static const std::shared_ptr<const Caller> &current();

private:
  std::shared_ptr<const Caller> before_;
};

} // namespace tile::device
