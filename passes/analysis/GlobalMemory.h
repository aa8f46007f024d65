// Which global memory an access may touch: the one place that decides which arguments of a kernel
// are apart. Whatever moves or orders accesses asks here.
#pragma once

#include "ir/tile/TileDialect.h"

namespace tile::passes {

/// The argument that a view, pointer or tile of pointers was made from; null if it cannot be seen.
/// After LowerViews.
mlir::Value rootOf(mlir::Value pointer);

/// May memory reached through these arguments be the same? Arguments are apart unless they are one,
/// `tile.may_alias` names them, or one is null.
bool mayOverlap(mlir::Value rootA, mlir::Value rootB);

} // namespace tile::passes
