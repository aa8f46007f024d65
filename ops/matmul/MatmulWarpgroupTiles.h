// Tiles of dots by warpgroups (wgmma), which MatmulTiles.cpp chooses among others.
#pragma once

#include "ops/matmul/MatmulTiles.h"

namespace tile::ops::detail {

/// The tiles and the schedule that are expected to take the least time.
MatmulTiles warpgroupTiles(const MatmulShape &shape);

} // namespace tile::ops::detail
