#include "tests/execution/DumpedPtx.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tile::test {

namespace fs = std::filesystem;

// The gate of ptxas sets the variable where there is a ptxas, and clears its folder away; else this one stays until the
// program ends.
void recordPtx() {
  if (const char *folder = std::getenv("TILE_DUMP"); folder && *folder)
    return;
  struct Folder {
    std::string path = ::testing::TempDir() + "tile-stages-XXXXXX";
    Folder() {
      setenv("TILE_DUMP", mkdtemp(path.data()), 1);
      setenv("TILE_DUMP_STAGES", "ptx", 1); // else no later kernel would be taken from the cache
    }
    ~Folder() { fs::remove_all(path); }
  };
  static Folder folder;
}

std::string ptxOf(const std::string &kernel) {
  std::stringstream text;
  for (const auto &entry : fs::directory_iterator(std::getenv("TILE_DUMP")))
    if (entry.path().filename().string().starts_with(kernel + "-"))
      text << std::ifstream(entry.path() / "5-kernel.ptx").rdbuf();
  return text.str();
}

} // namespace tile::test
