// What the tuner may choose of a matrix product, and what a launch with such a choice has to do.
#pragma once

#include "ops/matmul/MatmulTiles.h"

#include <tile/Tuning.h>

namespace tile::ops::detail {

/// The settings of a tile, by the names of the kernel's constants; and back.
Config configOf(const MatmulTiles &tiles);
MatmulTiles tilesOf(const Config &config);

/// Why these settings of a tile never go together, as a sentence; empty if they do.
const char *contradictionIn(const MatmulTiles &tiles);
/// Why tiles are none for a product, as a sentence; empty if they are.
const char *objectionTo(const MatmulTiles &tiles, const MatmulShape &shape);

/// What a launch does: the model of its time.
Work workOf(const MatmulTiles &tiles, const MatmulShape &shape);

} // namespace tile::ops::detail
