// Kernels that may start before the launches ahead of them have ended, for which they wait
// themselves.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tile::ir {

/// On a kernel: it shall wait itself, where the target can.
inline constexpr llvm::StringLiteral kDependentAttr = "tile.dependent";

} // namespace tile::ir
