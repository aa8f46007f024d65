// Files read whole, into memory.
#pragma once

#include <string>

namespace tile::base {

/// What a file, pipe or device yields until its end. Throws Error, IoError with the reason: a folder opens like a file, and
/// tells only when it is read that it is none; a device that never ends would take all memory.
std::string readFile(const std::string &path);

} // namespace tile::base
