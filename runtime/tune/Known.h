// What is known of problems, in the order in which it counts: tables that the user names, what was found on this machine, tables that
// come with the library.
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

/// Where results are. Files are tables of Trial.h; one that cannot be read is a warning.
struct KnownSources {
  std::vector<std::string> tables;
  std::unique_ptr<Store> database; ///< may be null
  std::vector<std::string> shipped;
};

class KnownResults {
public:
  explicit KnownResults(KnownSources sources);

  /// What the environment names. A database that cannot be read is a warning.
  static std::unique_ptr<KnownResults> ofEnvironment();

  /// Results for a problem in the order in which they are to be taken: by source, of each those of this version of the kernel, then
  /// what was chosen, then by their times. `onlyTables` leaves the database out.
  std::vector<Known> find(const TrialKey &key, bool onlyTables);

private:
  struct Table {
    std::string file;
    std::vector<Trial> trials;
  };
  static std::vector<Table> read(const std::vector<std::string> &files);
  std::vector<Trial> inDatabase(const TrialKey &key);

  std::vector<Table> tables_;
  std::unique_ptr<Store> database_;
  std::vector<Table> shipped_;
};

} // namespace tile::tune
