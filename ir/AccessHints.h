// What accesses of memory have in common: their hints, and what a volatile one does.
#pragma once

#include "ir/tile/TileDialect.h"

namespace tile::ir {

/// Checks cache mode, eviction and `volatile` of one access against each other.
mlir::LogicalResult verifyHints(mlir::Operation *op, CacheMode cache, Eviction evict,
                                bool isVolatile, bool isLoad);

} // namespace tile::ir
