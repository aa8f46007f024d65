// The sources that `tilec aot` writes beside the archive: its bytes as C, and a header that declares its functions to C++
// and C.
#pragma once

#include "runtime/aot/Archive.h"

#include <cstddef>
#include <span>
#include <string>

namespace tile::tilec {

/// NAME.h for an archive of so many bytes.
std::string headerOf(const aot::Archive &archive, size_t bytes);

/// NAME.c
std::string embeddingOf(const aot::Archive &archive, std::span<const std::byte> bytes);

} // namespace tile::tilec
