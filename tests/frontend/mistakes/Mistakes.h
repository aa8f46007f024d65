// Programs as people get them wrong. Mistakes.cpp is compiled by g++ and by clang++; Print.cpp prints
// what the user is told, which must be the same and as in mistakes.txt, line numbers included.
#pragma once

#include <tile/tile.h>

#include <memory>
#include <vector>

/// A kernel that must be refused, and the values of its constants.
struct Mistake {
  std::shared_ptr<const tile::detail::KernelRecord> record;
  std::vector<int64_t> consts;
};

std::vector<Mistake> mistakes();
