// What the tuner may choose of a matrix product, and what a launch with such a choice has to do.
#pragma once

#include "ops/MatmulTiles.h"

#include <tile/Tuning.h>

namespace tile::ops::detail {

/// The settings of a tile, by the names of the kernel's constants; and back.
Config configOf(const MatmulTiles &tiles);
MatmulTiles tilesOf(const Config &config);

/// Why tiles are none for a product, as a sentence; empty if they are.
const char *objectionTo(const MatmulTiles &tiles, const MatmulShape &shape);

/// What a launch does: the model of its time.
Work workOf(const MatmulTiles &tiles, const MatmulShape &shape);

} // namespace tile::ops::detail
