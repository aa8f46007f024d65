#include "runtime/tune/Known.h"

#include "base/Environment.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <tuple>

namespace tile::tune {
namespace {

void warn(const Error &error, const char *consequence) {
  std::cerr << "tile: warning: " << error.message() << "; " << consequence << "\n";
}

bool isFor(const Trial &trial, const TrialKey &key) {
  return trial.key.kernel == key.kernel && trial.key.problem == key.problem &&
         trial.key.device == key.device;
}

/// Those that may be chosen, by how much they count; of one set of settings the later counts.
void addInOrder(std::vector<Trial> trials, const TrialKey &key, const std::string &source,
                std::vector<Known> &found) {
  std::erase_if(trials, [](const Trial &trial) { return trial.status > Status::Modelled; });
  std::ranges::sort(trials, {}, [&](const Trial &trial) {
    return std::tuple(trial.key.version != key.version, !trial.isChosen, trial.milliseconds,
                      trial.config.str());
  });
  for (Trial &trial : trials)
    found.push_back({std::move(trial.config), source});
}

} // namespace

KnownResults::KnownResults(const std::vector<std::string> &tables, std::unique_ptr<Store> database)
    : database_(std::move(database)) {
  for (const std::string &file : tables)
    try {
      tables_.push_back({file, readTable(file)});
    } catch (const Error &error) {
      warn(error, "this table of tuned settings is not used");
    }
}

std::unique_ptr<KnownResults> KnownResults::ofEnvironment() {
  std::vector<std::string> tables;
  std::istringstream files(base::environmentText("TILE_TUNE_TABLE"));
  for (std::string file; std::getline(files, file, ':');)
    if (!file.empty())
      tables.push_back(file);
  std::unique_ptr<Store> database;
  std::string file = Store::defaultFile();
  std::error_code isAbsent;
  if (!file.empty() && std::filesystem::exists(file, isAbsent))
    try {
      database = std::make_unique<Store>(file, Store::Access::Read);
    } catch (const Error &error) {
      warn(error, "it is not used");
    }
  return std::make_unique<KnownResults>(tables, std::move(database));
}

std::vector<Known> KnownResults::find(const TrialKey &key, bool onlyTables) {
  std::vector<Known> found;
  for (const Table &table : tables_) {
    std::vector<Trial> own;
    std::ranges::copy_if(table.trials, std::back_inserter(own),
                         [&](const Trial &trial) { return isFor(trial, key); });
    addInOrder(std::move(own), key, table.file, found);
  }
  if (!onlyTables)
    addInOrder(inDatabase(key), key, "the database", found);
  return found;
}

std::vector<Trial> KnownResults::inDatabase(const TrialKey &key) {
  if (!database_)
    return {};
  try {
    return database_->trialsOf(key.kernel, key.problem, key.device);
  } catch (const Error &error) {
    warn(error, "it is not used any more");
    database_ = nullptr;
    return {};
  }
}

} // namespace tile::tune
