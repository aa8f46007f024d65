// What PlaceBarriers leaves on the barriers it makes.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tile::passes {

/// Attribute of a barrier: the first pair of accesses it keeps apart, as a sentence.
inline constexpr llvm::StringLiteral kReasonAttr = "tilegpu.reason";

} // namespace tile::passes
