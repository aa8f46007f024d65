#include "runtime/tune/ShippedTables.h"

#include "base/Environment.h"
#include "base/LibraryFolder.h"

#include <algorithm>

namespace tile::tune {
namespace {

namespace fs = std::filesystem;

bool isFolder(const fs::path &path) {
  std::error_code isAbsent;
  return fs::is_directory(path, isAbsent);
}

std::vector<std::string> tablesIn(const fs::path &folder) {
  std::vector<std::string> tables;
  std::error_code fault;
  fs::directory_iterator entry(folder, fault);
  for (; !fault && entry != fs::directory_iterator(); entry.increment(fault))
    if (entry->path().extension() == ".jsonl")
      tables.push_back(entry->path().string());
  std::ranges::sort(tables); // as the order of tables counts, and a folder has none
  return tables;
}

} // namespace

std::vector<std::string> shippedTablesBeside(const fs::path &libraryFolder) {
  if (libraryFolder.empty())
    return {};
  for (const char *prefix : {"..", "../.."}) // of lib and of lib/x86_64-linux-gnu
    if (fs::path folder = (libraryFolder / prefix / "share/tilec/tuned").lexically_normal();
        isFolder(folder))
      return tablesIn(folder);
  return {};
}

std::vector<std::string> shippedTables() {
  std::string asked = base::environmentText("TILE_TUNE_SHIPPED");
  if (asked.empty())
    return shippedTablesBeside(base::libraryFolder());
  if (asked != "off" && !isFolder(asked))
    base::warnOfEnvironment("TILE_TUNE_SHIPPED", asked,
                            "is no folder; there are no shipped tables");
  return asked == "off" ? std::vector<std::string>() : tablesIn(asked);
}

} // namespace tile::tune
