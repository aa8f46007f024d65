// What is done in a forked child of a test.
#pragma once

#include <cstdio>
#include <exception>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace tile::test {

/// Runs `isFine` in a child; false if it is not, dies, or hangs for half a minute.
inline bool isFineInChild(const std::function<bool()> &isFine) {
  constexpr unsigned kSeconds = 30;
  pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    int result = 1;
    try {
      result = isFine() ? 0 : 1;
    } catch (const std::exception &error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    _exit(result);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

} // namespace tile::test
