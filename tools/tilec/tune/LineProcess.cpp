#include "tools/tilec/tune/LineProcess.h"

#include <tile/Error.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tile::tilec {
namespace {

using Clock = std::chrono::steady_clock;

/// Replaces this process. Only calls that are allowed between fork and exec.
[[noreturn]] void become(char *const *argv, int in, int out) {
  setpgid(0, 0); // and so out of reach of what stops the parent
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  dup2(in, STDIN_FILENO), dup2(out, STDOUT_FILENO);
  execv("/proc/self/exe", argv);
  _exit(127);
}

} // namespace

LineProcess::LineProcess(const std::vector<std::string> &arguments) {
  std::vector<char *> argv = {const_cast<char *>("tilec")};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || (process_ = fork()) < 0)
    throw Error(Fault::User, ErrorCode::IoError,
                std::string("a process to try settings in cannot start: ") + strerror(errno));
  if (process_ == 0)
    become(argv.data(), in[0], out[1]);
  close(in[0]), close(out[1]);
  toProcess_ = in[1], fromProcess_ = out[0];
}

LineProcess::~LineProcess() {
  if (toProcess_ >= 0)
    close(toProcess_), close(fromProcess_);
  if (process_ > 0) {
    kill(-process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
}

bool LineProcess::send(const std::string &line) {
  std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    ssize_t count = write(toProcess_, text.data() + sent, text.size() - sent);
    if (count < 0 && errno != EINTR)
      return false;
    sent += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return true;
}

LineProcess::Answer LineProcess::receive(std::string &line, std::chrono::milliseconds limit) {
  Clock::time_point deadline = Clock::now() + limit;
  while (true) {
    if (size_t end = read_.find('\n'); end != read_.npos) {
      line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return Answer::Line;
    }
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready = {fromProcess_, POLLIN, 0};
    int count = poll(&ready, 1, static_cast<int>(std::max<int64_t>(left, 0)));
    if (count == 0)
      return Answer::TooLate;
    if (count < 0)
      continue; // a signal
    char bytes[4096];
    ssize_t size = read(fromProcess_, bytes, sizeof bytes);
    if (size == 0 || (size < 0 && errno != EINTR))
      return Answer::Gone;
    read_.append(bytes, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  }
}

std::string LineProcess::death() {
  int status = 0;
  if (process_ <= 0 || waitpid(process_, &status, 0) != process_)
    return "gone";
  process_ = -1;
  return WIFSIGNALED(status) ? std::string("killed by ") + strsignal(WTERMSIG(status))
                             : "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

int takeAnswerStream() {
  int answers = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return answers;
}

} // namespace tile::tilec
