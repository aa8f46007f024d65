#include "runtime/tune/Store.h"

#include "base/Environment.h"
#include "runtime/tune/Merge.h"

#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

namespace tile::tune {
namespace {

constexpr int kSchema = 1;
constexpr int kMostWaitMs[] = {20, 5000}; // for a writer: who reads, who writes

// The settings are the text of a JSON object; a row is the line of a table with columns to look for.
constexpr const char *kTables = R"(
  CREATE TABLE IF NOT EXISTS trials(
    kernel TEXT NOT NULL, version TEXT NOT NULL, problem TEXT NOT NULL, device TEXT NOT NULL,
    toolchain TEXT NOT NULL, config TEXT NOT NULL, status TEXT NOT NULL, ms REAL, trial TEXT NOT NULL,
    PRIMARY KEY(kernel, device, problem, version, toolchain, config)) WITHOUT ROWID;
)";

[[noreturn]] void refuse(const std::string &file, const std::string &what) {
  throw Error(Fault::User, ErrorCode::IoError, "the tuning database '" + file + "': " + what);
}

/// What SQLite says of a call that failed.
struct SqliteFault {
  int code;
  std::string what;
};

void check(sqlite3 *database, int code) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
    throw SqliteFault{code & 0xff, sqlite3_errmsg(database)};
}

/// A statement and what it is run with.
class Statement {
public:
  Statement(sqlite3 *database, const std::string &text) : database_(database) {
    check(database, sqlite3_prepare_v2(database, text.c_str(), -1, &statement_, nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  void bind(const std::string &text) {
    check(database_, sqlite3_bind_text(statement_, ++bound_, text.data(),
                                       static_cast<int>(text.size()), SQLITE_TRANSIENT));
  }
  void bind(double number) { check(database_, sqlite3_bind_double(statement_, ++bound_, number)); }
  /// Whether there is a row, or another one.
  bool step() {
    int code = sqlite3_step(statement_);
    check(database_, code);
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const auto *text = sqlite3_column_text(statement_, column);
    return text ? reinterpret_cast<const char *>(text) : "";
  }
  int number(int column) const { return sqlite3_column_int(statement_, column); }

private:
  sqlite3 *database_;
  sqlite3_stmt *statement_ = nullptr;
  int bound_ = 0;
};

void run(sqlite3 *database, const std::string &text) {
  check(database, sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr));
}

int schemaOf(sqlite3 *database) {
  Statement version(database, "PRAGMA user_version");
  return version.step() ? version.number(0) : 0;
}

/// Runs `act`; what SQLite says against it becomes an Error.
template <class Act> auto guarded(const std::string &file, Act act) {
  try {
    return act();
  } catch (const SqliteFault &fault) {
    refuse(file, fault.what);
  }
}

bool isDamage(int code) { return code == SQLITE_NOTADB || code == SQLITE_CORRUPT; }

} // namespace

void Store::Close::operator()(sqlite3 *database) const { sqlite3_close_v2(database); }

std::string Store::defaultFile() {
  std::string file = base::environmentText("TILE_TUNE_DB");
  if (file == "off")
    return {};
  if (!file.empty())
    return file;
  if (std::string data = base::environmentText("XDG_DATA_HOME"); data.starts_with("/"))
    return data + "/tilec/tuned.sqlite";
  std::string home = base::environmentText("HOME");
  return home.starts_with("/") ? home + "/.local/share/tilec/tuned.sqlite" : "";
}

Store::Store(std::string file, Access access) : file_(std::move(file)), access_(access) {
  try {
    open();
    prepare();
  } catch (const SqliteFault &fault) {
    if (!isDamage(fault.code) || access_ == Access::Read)
      refuse(file_, fault.what);
    setAside();
    guarded(file_, [&] {
      open();
      prepare();
    });
  }
}

Store::~Store() {
  if (process_.isOfParent())
    static_cast<void>(database_.release());
}

void Store::refuseOfParent() const {
  if (process_.isOfParent())
    refuse(file_, "was opened before this process was forked, which SQLite does not allow: fork "
                  "before the first tuned launch, or start the process by exec");
}

void Store::open() {
  if (access_ == Access::Write) {
    std::error_code ignored; // opening says what is wrong
    std::filesystem::create_directories(std::filesystem::path(file_).parent_path(), ignored);
  }
  sqlite3 *database = nullptr;
  int flags =
      access_ == Access::Read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  int code = sqlite3_open_v2(file_.c_str(), &database, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
  database_.reset(database);
  if (!database)
    refuse(file_, "there is no memory");
  check(database, code);
  sqlite3_busy_timeout(database, kMostWaitMs[static_cast<size_t>(access_)]);
}

void Store::prepare() {
  int schema = schemaOf(database_.get());
  if (schema > kSchema)
    refuse(file_, "was written by a newer version of tilec (its format is " +
                      std::to_string(schema) + ", known are those up to " +
                      std::to_string(kSchema) + "): set TILE_TUNE_DB to another file");
  if (access_ == Access::Read)
    return;
  // Readers do not wait for writers then; file systems that cannot do it keep the mode they have.
  run(database_.get(), "PRAGMA journal_mode = WAL");
  if (schema < kSchema)
    run(database_.get(), std::string(kTables) + "PRAGMA user_version = " + std::to_string(kSchema));
  Statement whole(database_.get(), "PRAGMA quick_check(1)");
  if (whole.step() && whole.text(0) != "ok")
    throw SqliteFault{SQLITE_CORRUPT, whole.text(0)};
}

void Store::setAside() {
  database_.reset();
  std::error_code fault;
  for (const char *journal : {"-wal", "-shm"})
    std::filesystem::remove(file_ + journal, fault);
  std::filesystem::rename(file_, file_ + ".bak", fault);
  if (fault)
    refuse(file_, "is damaged, and cannot be renamed: " + fault.message());
  std::cerr << "tile: warning: the tuning database '" << file_ << "' was damaged: it is now '"
            << file_ << ".bak', and a new one was begun\n";
}

std::vector<Trial> Store::select(const std::string &condition,
                                 const std::vector<std::string> &values) {
  refuseOfParent();
  std::lock_guard lock(mutex_);
  return guarded(file_, [&] {
    Statement query(database_.get(), "SELECT trial FROM trials " + condition);
    for (const std::string &value : values)
      query.bind(value);
    std::vector<Trial> trials;
    while (query.step())
      trials.push_back(trialOfJson(query.text(0), file_, static_cast<int>(trials.size()) + 1));
    return trials;
  });
}

std::vector<Trial> Store::trialsOf(const std::string &kernel, const std::string &problem,
                                   const std::string &device) {
  return select("WHERE kernel = ? AND device = ? AND problem = ? ORDER BY ms IS NULL, ms",
                {kernel, device, problem});
}

std::vector<Trial> Store::all() {
  return select("ORDER BY kernel, device, problem, ms IS NULL, ms", {});
}

void Store::write(const Trial &trial) {
  Statement insert(database_.get(),
                   "INSERT OR REPLACE INTO trials(kernel, version, problem, device, toolchain, "
                   "config, status, trial, ms) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const std::string &text :
       {trial.key.kernel, trial.key.version, trial.key.problem, trial.key.device, trial.toolchain,
        trial.config.str(), std::string(nameOf(trial.status)), toJson(trial)})
    insert.bind(text);
  if (trial.status <= Status::Modelled)
    insert.bind(trial.milliseconds);
  insert.step();
}

void Store::keep(const Trial &trial) {
  refuseOfParent();
  std::lock_guard lock(mutex_);
  guarded(file_, [&] { write(trial); });
}

// Nobody writes between what is read and what is written for it.
void Store::merge(const std::vector<Trial> &trials) {
  refuseOfParent();
  std::lock_guard lock(mutex_);
  auto known = [&](const Trial &trial) -> std::optional<Trial> {
    Statement query(database_.get(),
                    "SELECT trial FROM trials WHERE kernel = ? AND device = ? AND problem = ? AND "
                    "version = ? AND toolchain = ? AND config = ?");
    for (const std::string &text : {trial.key.kernel, trial.key.device, trial.key.problem,
                                    trial.key.version, trial.toolchain, trial.config.str()})
      query.bind(text);
    return query.step() ? std::optional(trialOfJson(query.text(0), file_, 1)) : std::nullopt;
  };
  guarded(file_, [&] {
    run(database_.get(), "BEGIN IMMEDIATE");
    try {
      for (const Trial &trial : trials) {
        std::optional<Trial> there = known(trial);
        write(there ? merged(*there, trial) : trial);
      }
      run(database_.get(), "COMMIT");
    } catch (...) {
      sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  });
}

int64_t Store::forget(const std::string &kernel) {
  refuseOfParent();
  std::lock_guard lock(mutex_);
  return guarded(file_, [&] {
    Statement forget(database_.get(), "DELETE FROM trials WHERE kernel = ?");
    forget.bind(kernel);
    forget.step();
    return static_cast<int64_t>(sqlite3_changes(database_.get()));
  });
}

} // namespace tile::tune
