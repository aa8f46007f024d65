// Checks the values of compile settings.
#pragma once

#include <tile/Kernel.h>

namespace tile::frontend {

/// What is wrong with a setting: "warps must be a power of two up to 32, got 3"; empty if nothing.
std::string wrongSetting(const detail::CompileSettings &settings);

/// What is wrong with a number of teams, as a sentence; empty if nothing is.
std::string wrongTeams(int count);

/// What is wrong with a number of blocks of a cluster, likewise.
std::string wrongCluster(int count);

/// What is wrong with a number of programs that add up tiles, likewise.
std::string wrongProgramsOfSum(int count);

} // namespace tile::frontend
