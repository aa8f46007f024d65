// Kernels in a C++ file: compiled by the host's compiler into a library that this process loads.
#pragma once

#include <string>

namespace tile::tilec {

/// Compiles FILE.cpp against the public headers of this tilec and loads it; its messages go to standard error. The
/// compiler is $CXX, else c++, g++, clang++; TILE_CXXFLAGS adds words to its command. Errors: ToolMissing without a
/// compiler or headers, Parse if it refuses the file, LinkError if the library cannot be loaded.
void loadSource(const std::string &file);

/// Where processes that this one starts can read what loadSource compiled last, as long as this one lives; empty if it
/// compiled nothing.
std::string compiledLibrary();

/// The other side: loadSource loads this library instead of compiling its file, if it can be read.
void expectCompiled(const std::string &library);

/// Loads a shared library. Error: LinkError with the loader's words.
void loadLibrary(const std::string &file);

} // namespace tile::tilec
