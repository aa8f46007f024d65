// What a view must be for the copy engine to take its tiles.
#pragma once

#include "passes/variants/Variants.h"

namespace tile::passes {

/// Why tiles of an access, which carries `tilegpu.access`, of a view at these offsets are no boxes
/// of a tensor as the copy engine knows it: an argument of the kernel of at most 5 dimensions,
/// whose rows, and the tiles' first elements, lie at multiples of 16 bytes. Nothing if they are.
/// Where the view ends does not matter.
Refusal whyNoTensor(mlir::Operation *access, mlir::Value view, mlir::ValueRange offsets);

} // namespace tile::passes
