// Shared libraries of users, whose own code runs while they are loaded.
#pragma once

#include <string>

namespace tile::base {

/// Loads a library, which stays loaded, and returns the loader's handle. Error: LinkError about `shown` with the loader's words,
/// or with what a static variable throws; errors of ours, of kernels for instance, are passed on.
void *loadUserLibrary(const std::string &path, const std::string &shown);

} // namespace tile::base
