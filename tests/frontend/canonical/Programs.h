// The kernels whose IR must not depend on the host compiler. Programs.cpp is compiled by g++ and by
// clang++; Print.cpp, which prints their IR, by the compiler of the build.
#pragma once

#include <tile/tile.h>

#include <vector>

/// A kernel with its constants.
struct Program {
  const tile::detail::KernelRecord *record;
  std::vector<int64_t> consts;
};

std::vector<Program> programs();
