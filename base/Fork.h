// Whether this process is a child that was forked from the one where something was made.
#pragma once

#include <cstdint>

namespace tile::base {

/// How many forks lie between the process that loaded this library and this one. A load of a number: no call of the system.
/// Children of clone() and vfork() are not counted.
uint64_t forkCount();

/// Remembers the process that it was made in.
class MadeInProcess {
public:
  bool isOfParent() const { return forks_ != forkCount(); }

private:
  uint64_t forks_ = forkCount();
};

} // namespace tile::base
