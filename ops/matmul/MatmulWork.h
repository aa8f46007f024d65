// What the tuner may choose of a matmul, and what a launch with such a choice has to do.
#pragma once

#include "ops/matmul/MatmulTiles.h"

#include <tile/Tuning.h>

namespace tile::ops::detail {

/// Why the target or the shape refuses these tiles and this schedule, as a sentence; empty if they
/// do not.
const char *objectionTo(const MatmulTiles &tiles, const MatmulShape &shape);
/// What a launch does: the model of its time.
Work workOf(const MatmulTiles &tiles, const MatmulShape &shape);

} // namespace tile::ops::detail
