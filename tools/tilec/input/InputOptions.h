// What `build` and `explain` have in common on the command line: the input, how to compile it, and
// that the work happens in a child process.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tile::tilec {

struct InputOptions {
  std::vector<std::string> words; ///< the input, then settings
  std::string target = "sm_80", kernel;
  std::string reproducer; ///< where the child leaves one
  bool dependent = false; ///< the kernel shall wait itself for the launches before it
  bool inChild = false;
};

/// Adds them to a command; `options` must live until it is parsed.
void addInputOptions(CLI::App &command, InputOptions &options);

/// Runs the same command in a child, with the arguments that are its own; returns its exit code.
int repeatInChild(const std::string &command, std::vector<std::string> ownArguments,
                  const InputOptions &options);

} // namespace tile::tilec
