// Which integers are never negative: places of tiles that follow from numbers of programs and
// extents.
#pragma once

#include "mlir/IR/Value.h"

namespace tile::passes {

/// Is a scalar integer of a kernel known to be 0 or more? Sums and products are taken not to
/// overflow, as those of places are not. After LowerViews.
bool isNeverNegative(mlir::Value value);

} // namespace tile::passes
