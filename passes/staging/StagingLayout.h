// Where the elements of a tile lie in shared memory while it passes from its writer to its readers.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Layout.h"

namespace tile::passes {

/// The memory for a tile of this element type that threads write in the layout `writer` and read in the layouts
/// `readers`, all of one shape: a swizzle that lets both sides pass without bank conflicts, if there is one.
gpu::SmemType stagingType(const layout::Layout &writer, mlir::Type elementType,
                          llvm::ArrayRef<layout::Layout> readers);

} // namespace tile::passes
