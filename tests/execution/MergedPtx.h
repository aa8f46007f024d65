// The text of compiled kernels, put together to files of many. Compiled with optimisation: it is megabytes.
#pragma once

#include <cstddef>
#include <string>

namespace tile::test {

/// The name of the kernel; empty if there is none.
std::string entryOf(const std::string &ptx);

/// What stands behind .target, up to the end of the line.
std::string targetLineOf(const std::string &ptx);

/// The kernel as one of many of a file: under the name k<number>, without debug lines, and, but for the first, without what
/// a file has once.
std::string asPart(std::string ptx, const std::string &kernel, size_t number, bool isFirst);

/// What the kernel is made of, whatever its name and target.
std::string codeOf(std::string ptx, const std::string &kernel);

} // namespace tile::test
