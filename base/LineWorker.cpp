#include "base/LineWorker.h"

#include <cerrno>
#include <csignal>
#include <thread>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tile::base {

static void endWithListener() {
  // Lines are read elsewhere: only the end of the stream is of interest here.
  pollfd stream = {STDIN_FILENO, 0, 0};
  while (poll(&stream, 1, -1) < 0 && errno == EINTR) {
  }
  kill(getpgrp() == getpid() ? 0 : getpid(), SIGKILL);
}

LineWorker::LineWorker() : answers_(dup(STDOUT_FILENO)) {
  dup2(STDERR_FILENO, STDOUT_FILENO);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::thread(endWithListener).detach();
}

void LineWorker::answer(std::string line) const {
  line += "\n";
  for (size_t sent = 0; sent < line.size();) {
    ssize_t count = write(answers_, line.data() + sent, line.size() - sent);
    if (count < 0 && errno != EINTR)
      _exit(2);
    sent += count > 0 ? static_cast<size_t>(count) : 0;
  }
}

} // namespace tile::base
