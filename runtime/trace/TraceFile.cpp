#include "runtime/trace/TraceFile.h"

#include "base/Environment.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tile::trace {
namespace {

constexpr std::string_view kEnd = "\n]\n";

std::string words(int error) { return std::generic_category().message(error); }

/// Of all bytes, or an errno.
int writeAt(int file, std::string_view text, int64_t at) {
  while (!text.empty()) {
    ssize_t written = ::pwrite(file, text.data(), text.size(), at);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errno;
    text.remove_prefix(static_cast<size_t>(written));
    at += written;
  }
  return 0;
}

std::string nameOfThread(int thread) {
  char name[16] = "";
  ::pthread_getname_np(::pthread_self(), name, sizeof name);
  if (thread == TraceFile::processId())
    return "main";
  // A thread that nobody named has the program's name.
  std::string program = program_invocation_short_name;
  if (!*name || program.substr(0, sizeof name - 1) == name)
    return "thread " + std::to_string(thread);
  return name;
}

/// What is said of a process or a thread.
std::string nameEvent(const char *kind, const std::string &name) {
  using Json = nlohmann::json;
  Json event = {{"name", kind},
                {"ph", "M"},
                {"pid", TraceFile::processId()},
                {"tid", TraceFile::threadId()},
                {"args", {{"name", name}}}};
  return event.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

int TraceFile::processId() {
  static const int id = ::getpid();
  return id;
}

int TraceFile::threadId() {
  static thread_local const int id = static_cast<int>(::syscall(SYS_gettid));
  return id;
}

TraceFile *TraceFile::ofProcess() {
  // Never destroyed: threads may work until the very end of the process.
  static TraceFile *file = []() -> TraceFile * {
    std::string path = base::environmentText("TILE_TRACE"), why;
    if (path.empty())
      return nullptr;
    std::unique_ptr<TraceFile> opened = open(path, why);
    if (!opened)
      base::warnOfEnvironment("TILE_TRACE", path, why + "; no trace is written");
    return opened.release();
  }();
  return file;
}

std::unique_ptr<TraceFile> TraceFile::open(std::string path, std::string &why) {
  if (size_t at = path.find("%p"); at != path.npos)
    path.replace(at, 2, std::to_string(processId()));
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) {
    why = "cannot be written: " + words(errno);
    return nullptr;
  }
  std::unique_ptr<TraceFile> opened(new TraceFile(file, path));
  struct stat status;
  if (::fstat(file, &status) < 0 || !S_ISREG(status.st_mode))
    why = "is no regular file";
  else if (::flock(file, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
    why = "is being written by another process: '%p' in the name stands for the process' number";
  else if (int error = ::ftruncate(file, 0) < 0 ? errno : writeAt(file, "[\n]\n", 0))
    why = "cannot be written: " + words(error);
  if (!why.empty())
    return nullptr;
  opened->append(nameEvent("process_name", program_invocation_short_name));
  return opened;
}

TraceFile::TraceFile(int file, std::string path)
    : path_(std::move(path)), file_(file), owner_(::getpid()) {}

TraceFile::~TraceFile() { ::close(file_); }

void TraceFile::add(std::string_view event) {
  if (::getpid() != owner_)
    return;
  std::lock_guard lock(mutex_);
  if (isBroken_)
    return;
  nameThread();
  append(event);
}

void TraceFile::nameThread() {
  static thread_local const TraceFile *named = nullptr;
  if (std::exchange(named, this) != this)
    append(nameEvent("thread_name", nameOfThread(threadId())));
}

void TraceFile::append(std::string_view event) {
  std::string text = isEmpty_ ? "\n" : ",\n";
  text += event;
  int64_t size = static_cast<int64_t>(text.size());
  text += kEnd;
  if (int error = writeAt(file_, text, end_)) {
    isBroken_ = true;
    // There is room for the end, which was there before.
    writeAt(file_, kEnd, end_);
    [[maybe_unused]] int ignored = ::ftruncate(file_, end_ + static_cast<int64_t>(kEnd.size()));
    base::warnOfEnvironment("TILE_TRACE", path_,
                            "cannot be written any more: " + words(error) + "; the trace ends");
    return;
  }
  end_ += size;
  isEmpty_ = false;
}

} // namespace tile::trace
