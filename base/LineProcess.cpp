#include "base/LineProcess.h"

#include <tile/Error.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tile::base {
namespace {

using Clock = std::chrono::steady_clock;

/// The strings of a list as C wants them; valid as long as they are.
std::vector<char *> pointersTo(const std::vector<std::string> &strings) {
  std::vector<char *> pointers;
  for (const std::string &text : strings)
    pointers.push_back(const_cast<char *>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environmentWithout(const std::vector<std::string> &names) {
  std::vector<std::string> kept;
  for (char **variable = environ; *variable; ++variable) {
    std::string_view text = *variable;
    if (std::ranges::find(names, text.substr(0, text.find('='))) == names.end())
      kept.emplace_back(text);
  }
  return kept;
}

/// How a process is started: in its own group, with no signal blocked or ignored that this process blocks or ignores, and one
/// stream for its input and output. Not by fork(), which costs a program with much memory much time.
class Spawn {
public:
  explicit Spawn(int stream) {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
    sigset_t none, ours;
    sigemptyset(&none), sigemptyset(&ours);
    for (int signal : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD})
      sigaddset(&ours, signal);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &ours);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_adddup2(&actions_, stream, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, stream, STDOUT_FILENO);
  }
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn &) = delete;
  Spawn &operator=(const Spawn &) = delete;

  int start(pid_t &process, const LineProgram &program) const {
    std::vector<std::string> words = program.arguments;
    words.insert(words.begin(), "tilec");
    std::vector<std::string> environment = environmentWithout(program.without);
    return posix_spawn(&process, program.path.c_str(), &actions_, &attributes_,
                       pointersTo(words).data(), pointersTo(environment).data());
  }

private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

/// Waits until the stream is ready; false when time is up.
bool waitFor(int stream, short events, Clock::time_point deadline) {
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready = {stream, events, 0};
    int count = poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000)));
    if (count > 0)
      return true;
    if (count == 0 && Clock::now() >= deadline)
      return false;
  }
}

} // namespace

std::string ProcessEnd::text() const {
  if (signal)
    return std::string("killed by ") + strsignal(signal);
  return code ? "ended with exit code " + std::to_string(code) : "gone";
}

LineProcess::LineProcess(const LineProgram &program) {
  int streams[2];
  int fault = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, streams) == 0 ? 0 : errno;
  if (!fault) {
    stream_ = streams[0];
    fault = Spawn(streams[1]).start(process_, program);
    close(streams[1]);
  }
  if (!fault)
    return;
  if (stream_ >= 0)
    close(stream_);
  throw Error(Fault::User, ErrorCode::IoError,
              "the process '" + program.path + "' cannot start: " + strerror(fault));
}

LineProcess::~LineProcess() {
  close(stream_);
  if (process_ > 0 && !owner_.isOfParent()) {
    kill(-process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
}

LineProcess::Answer LineProcess::send(const std::string &line, std::chrono::milliseconds limit) {
  Clock::time_point deadline = Clock::now() + limit;
  std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    if (!waitFor(stream_, POLLOUT, deadline))
      return Answer::TooLate;
    ssize_t count =
        ::send(stream_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EINTR && errno != EAGAIN)
      return Answer::Gone;
    sent += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  return Answer::Line;
}

LineProcess::Answer LineProcess::receive(std::string &line, std::chrono::milliseconds limit) {
  Clock::time_point deadline = Clock::now() + limit;
  for (size_t looked = 0;;) {
    if (size_t end = read_.find('\n', looked); end != read_.npos) {
      line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return Answer::Line;
    }
    looked = read_.size();
    if (!waitFor(stream_, POLLIN, deadline))
      return Answer::TooLate;
    char bytes[1 << 16];
    ssize_t size = recv(stream_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN))
      return Answer::Gone;
    read_.append(bytes, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  }
}

ProcessEnd LineProcess::end() {
  int status = 0;
  if (process_ <= 0 || waitpid(process_, &status, 0) != process_)
    return {};
  kill(-process_, SIGKILL); // what it started
  process_ = -1;
  if (WIFSIGNALED(status))
    return {WTERMSIG(status), 0};
  return {0, WEXITSTATUS(status)};
}

} // namespace tile::base
