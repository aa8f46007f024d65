// The benchmark's driver is a program in Python, where the libraries are that our ops are compared with. Its sources are in
// this program, so that nothing else has to be carried to a machine.
#pragma once

#include <string>
#include <vector>

namespace tile::bench {

/// Writes the driver's sources into a folder, which is made. Throws Error, IoError.
void writeScripts(const std::string &folder);

/// Runs the driver in python3 with these words, and this program as its server. Returns its exit code; 2, with a message,
/// if there is no python3.
int runDriver(const std::vector<std::string> &words);

} // namespace tile::bench
