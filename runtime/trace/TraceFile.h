// The file that TILE_TRACE names: an array of events in Chrome's Trace Event Format, which Perfetto opens.
//
// The file is whole JSON at any time, so that a process may end as it likes, also by a signal, and what it did last is in
// the file, which is what one wants to see then. Each event is written at once, by one write that begins where the array
// ended and brings the new end along: ",\n{...}\n]\n" over "\n]\n". So nothing is done at exit, and nothing is lost before.
// It costs a system call an event, after the event was timed.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace tile::trace {

class TraceFile {
public:
  /// The file that the environment asks for, opened when it is first asked for; null if it asks for none, or none can be
  /// written, of which a warning tells.
  static TraceFile *ofProcess();

  /// Opens and empties a file; `%p` in the name is the process' number. Null if it cannot be written: `why` says so. A file
  /// that another process is writing is left alone.
  static std::unique_ptr<TraceFile> open(std::string path, std::string &why);
  ~TraceFile();
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;

  /// Adds an event, JSON on one line. The first of a thread is preceded by the thread's name. If it cannot be written there
  /// is a warning, and no more events are. A child of the process, which has its file too, writes none.
  void add(std::string_view event);

  static int processId();
  static int threadId();

private:
  TraceFile(int file, std::string path);
  void append(std::string_view event);
  void nameThread();

  std::mutex mutex_;
  std::string path_;
  int file_;
  int owner_;       ///< the process
  int64_t end_ = 1; ///< of the array's elements
  bool isEmpty_ = true, isBroken_ = false;
};

} // namespace tile::trace
