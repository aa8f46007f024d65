// The programs of the bundle, besides its tests.
#pragma once

#include <span>

namespace tile::bundle {

struct Example {
  const char *name;
  int (*run)();
};
std::span<const Example> examples();

/// Runs all of the bundle, one process a program and a group of tests, since a fault may end a process or lose its GPU.
/// Writes what they print into `folder`, and a line about each. Exit code: 1 if anything failed.
int check(const char *folder);

} // namespace tile::bundle
