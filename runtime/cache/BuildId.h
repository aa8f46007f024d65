// Which build of this library is running.
#pragma once

#include <string>

namespace tile::cache {

/// In hexadecimal digits: the number that the linker gave the program or library that holds this code, which follows from its
/// content. Empty if it gave none.
std::string buildId();

} // namespace tile::cache
