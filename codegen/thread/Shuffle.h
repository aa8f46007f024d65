// Values passed between the lanes of a warp.
#pragma once

#include "codegen/thread/ThreadValues.h"

namespace tile::codegen {

/// The value another lane holds (shfl.sync.idx); any element type.
mlir::Value shuffleFrom(ThreadValues &values, mlir::Location loc, mlir::Value value,
                        mlir::Value lane);

/// The value of the lane whose number differs in the bits of `mask` (shfl.sync.bfly).
mlir::Value shuffleButterfly(ThreadValues &values, mlir::Location loc, mlir::Value value,
                             int32_t mask);

} // namespace tile::codegen
