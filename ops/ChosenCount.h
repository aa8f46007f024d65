// The rule of how many elements of a row can be chosen.
#pragma once

#include "ops/Arguments.h"

namespace tile::ops {

/// x has rows, and each has k elements to choose.
void checkChosenCount(const Arguments &arguments, Named x, int64_t k);

} // namespace tile::ops
