// Tiles of products by groups of four warps (wgmma), as MatmulTiles.cpp chooses among others.
#pragma once

#include "ops/MatmulTiles.h"

namespace tile::ops::detail {

inline int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Programs of a product in tiles of m x n.
inline int64_t programs(const MatmulShape &shape, int m, int n) {
  return shape.batches * cdiv(shape.m, m) * cdiv(shape.n, n);
}

inline bool isHalf(DType dtype) { return dtype == f16 || dtype == bf16; }

/// Rows and columns from which on a product has enough for the smallest of them.
inline constexpr int64_t kFewestForGroups = 33;

/// Parts of K that are shorter are not worth adding up.
inline constexpr int64_t kLeastDepthOfPart = 1024;

/// The tiles that are expected to take the least time.
MatmulTiles tilesOfGroups(const MatmulShape &shape);

} // namespace tile::ops::detail
