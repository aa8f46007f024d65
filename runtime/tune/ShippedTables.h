// Tables of results that come with the library, so that the first launch on a GPU that its makers have timed is a tuned one.
//
//   PREFIX/share/tilec/tuned/*.jsonl   found from where the library lies: PREFIX/lib, or a folder of that
//   TILE_TUNE_SHIPPED                  another folder; off: none
//
// In the sources they are ops/tuned/, whose README says how a table comes there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tile::tune {

/// The tables to be used, by name; none if there is no folder.
std::vector<std::string> shippedTables();

/// Those of a library or program that lies in `libraryFolder`.
std::vector<std::string> shippedTablesBeside(const std::filesystem::path &libraryFolder);

} // namespace tile::tune
