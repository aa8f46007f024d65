// Where this library lies, for what is found relative to it: plugins, programs, data.
#pragma once

#include <filesystem>

namespace tile::base {

/// The absolute folder of the shared library, or else the program, that this code is part of, with links followed: a link to the
/// library has nothing beside it. Empty if that is not known.
std::filesystem::path libraryFolder();

} // namespace tile::base
