// Checks of arguments that the constructors of layers share.
#pragma once

#include <tile/Error.h>

#include <cstdint>

namespace tile::nn::detail {

/// Refuses sizes below 1.
void requireSize(const char *layer, const char *what, int64_t size, Loc loc);

} // namespace tile::nn::detail
