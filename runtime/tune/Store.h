// Results that outlive the process: an SQLite database, a row for each set of settings tried for a problem.
//
//   TILE_TUNE_DB   the file; else $XDG_DATA_HOME/tilec/tuned.sqlite, else ~/.local/share/tilec/tuned.sqlite; off: none
//
// Several processes may read and write it. A launch that looks something up waits 20 ms at most for a writer; whatever fails then
// costs what was looked for, and one warning a process. A child that is forked while it is open must not touch it, as SQLite has it:
// there each call is an IoError, and nothing is closed.
#pragma once

#include "base/Fork.h"
#include "runtime/tune/Trial.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct sqlite3;

namespace tile::tune {

class Store {
public:
  /// Opens a file, and makes it if it is to be written and is not there. One that is no database, or damaged, is renamed to
  /// FILE.bak before. Errors: IoError, also for a file of a newer version of this library.
  enum class Access : uint8_t { Read, Write };
  Store(std::string file, Access access);
  ~Store();
  Store(const Store &) = delete;
  Store &operator=(const Store &) = delete;

  /// The file that the environment asks for; empty if none is to be used.
  static std::string defaultFile();

  /// What is known of a problem, the fastest first, of any version of its kernel and any toolchain. Error: IoError.
  std::vector<Trial> trialsOf(const std::string &kernel, const std::string &problem,
                              const std::string &device);
  /// All of them, by kernel, device and problem. Error: IoError.
  std::vector<Trial> all();
  /// Keeps a result, in place of an earlier one of the same key, settings and toolchain. Error: IoError.
  void keep(const Trial &trial);
  /// Keeps what others have found, all or nothing, beside what is there: see Merge.h. Error: IoError.
  void merge(const std::vector<Trial> &trials);
  /// Forgets all that is known of a kernel; returns how many results. Error: IoError.
  int64_t forget(const std::string &kernel);

  const std::string &file() const { return file_; }

private:
  void open();
  void prepare();
  void setAside();
  void write(const Trial &trial);
  std::vector<Trial> select(const std::string &condition, const std::vector<std::string> &values);
  void refuseOfParent() const;

  std::string file_;
  Access access_;
  base::MadeInProcess process_;
  std::mutex mutex_;
  struct Close {
    void operator()(sqlite3 *database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

} // namespace tile::tune
