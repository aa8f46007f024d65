// Finds the assembler, for tests that take it as a second opinion.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace tile::test {

/// TILE_PTXAS, else the first on PATH or in CUDA's usual place; empty if there is none.
inline std::string findPtxas() {
  if (const char *named = std::getenv("TILE_PTXAS"); named && *named)
    return named;
  const char *path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/ptxas").c_str(), X_OK) == 0)
      return folder + "/ptxas";
  return "";
}

} // namespace tile::test
