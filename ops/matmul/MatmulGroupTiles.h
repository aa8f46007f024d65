// Tiles of products by groups of four warps (wgmma), as MatmulTiles.cpp chooses among others.
#pragma once

#include "ops/matmul/MatmulTiles.h"

namespace tile::ops::detail {

/// Rows and columns from which on a product has enough for the smallest of them.
inline constexpr int64_t kFewestForGroups = 33;

/// Parts of K that are shorter are not worth adding up.
inline constexpr int64_t kLeastDepthOfPart = 1024;

/// The tiles that are expected to take the least time.
MatmulTiles tilesOfGroups(const MatmulShape &shape);

} // namespace tile::ops::detail
