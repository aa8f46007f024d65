// Kernels that may start before the launches ahead of them have ended, for which they wait themselves.
#pragma once

#include "ir/target/Target.h"
#include "llvm/ADT/StringRef.h"

namespace tile::ir {

/// On a kernel: it shall wait itself, where the target can.
inline constexpr llvm::StringLiteral kDependentAttr = "tile.dependent";

/// Has the target `griddepcontrol`? It came with sm_90.
inline bool canWaitForLaunches(const Target &target) { return target.smVersion >= 90; }

} // namespace tile::ir
