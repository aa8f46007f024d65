// What is known of problems, in the order in which it counts: tables that were reviewed, then the database.
#pragma once

#include "runtime/tune/Store.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile::tune {

/// Settings, and where they come from: "tuned.jsonl", "the database".
struct Known {
  Config config;
  std::string source;
};

class KnownResults {
public:
  /// `tables` are files; one that cannot be read is a warning. `database` may be null.
  KnownResults(const std::vector<std::string> &tables, std::unique_ptr<Store> database);

  /// What the environment names. A database that cannot be read is a warning.
  static std::unique_ptr<KnownResults> ofEnvironment();

  /// Results for a problem in the order in which they are to be taken: those of tables first, of each those of this
  /// version of the kernel, then what was chosen, then by their times.
  std::vector<Known> find(const TrialKey &key, bool onlyTables);

private:
  struct Table {
    std::string file;
    std::vector<Trial> trials;
  };
  std::vector<Trial> inDatabase(const TrialKey &key);

  std::vector<Table> tables_;
  std::unique_ptr<Store> database_;
};

} // namespace tile::tune
