#include "runtime/tune/Known.h"

#include "base/Environment.h"
#include "runtime/tune/Merge.h"
#include "runtime/tune/ShippedTables.h"

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
  std::vector<const Trial *> chosen; // by several who tuned, perhaps
  for (const Trial &trial : trials)
    if (trial.isChosen && trial.key.version == trials.front().key.version)
      chosen.push_back(&trial);
  if (chosen.size() > 1) {
    auto best = trials.begin() + (chosen[bestKnown(chosen)] - trials.data());
    std::rotate(trials.begin(), best, best + 1);
  }
  for (Trial &trial : trials)
    found.push_back({std::move(trial.config), source});
}

} // namespace

KnownResults::KnownResults(KnownSources sources)
    : tables_(read(sources.tables)), database_(std::move(sources.database)),
      shipped_(read(sources.shipped)) {}

std::vector<KnownResults::Table> KnownResults::read(const std::vector<std::string> &files) {
  std::vector<Table> tables;
  for (const std::string &file : files)
    try {
      tables.push_back({file, readTable(file)});
    } catch (const Error &error) {
      warn(error, "this table of tuned settings is not used");
    }
  return tables;
}

std::unique_ptr<KnownResults> KnownResults::ofEnvironment() {
  KnownSources sources;
  std::istringstream files(base::environmentText("TILE_TUNE_TABLE"));
  for (std::string file; std::getline(files, file, ':');)
    if (!file.empty())
      sources.tables.push_back(file);
  std::string file = Store::defaultFile();
  std::error_code isAbsent;
  if (!file.empty() && std::filesystem::exists(file, isAbsent))
    try {
      sources.database = std::make_unique<Store>(file, Store::Access::Read);
    } catch (const Error &error) {
      warn(error, "it is not used");
    }
  sources.shipped = shippedTables();
  return std::make_unique<KnownResults>(std::move(sources));
}

std::vector<Known> KnownResults::find(const TrialKey &key, bool onlyTables) {
  std::vector<Known> found;
  auto addTables = [&](const std::vector<Table> &tables) {
    for (const Table &table : tables) {
      std::vector<Trial> own;
      std::ranges::copy_if(table.trials, std::back_inserter(own),
                           [&](const Trial &trial) { return isFor(trial, key); });
      addInOrder(std::move(own), key, table.file, found);
    }
  };
  addTables(tables_);
  if (!onlyTables)
    addInOrder(inDatabase(key), key, "the database", found);
  addTables(shipped_);
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
