// Where the elements of a tile lie in shared memory while it passes from its writer to its readers.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/SharedAccess.h"

namespace tile::passes {

/// Cycles of a warp that accesses a whole tile: instructions issued plus wavefronts of shared
/// memory.
int64_t accessCost(const layout::Layout &layout, const layout::SharedLayout &shared, int64_t bytes,
                   const layout::VectorGroup &group);
int64_t accessCost(const layout::Layout &layout, const layout::SharedLayout &shared, int64_t bytes);

/// Is a tile a single row, or less? It is read in a few accesses however it lies, and no swizzle
/// has a pattern in it.
bool isRow(llvm::ArrayRef<int64_t> shape);

/// Cycles of a warp for all readers of a tile in such memory, by ldmatrix where that delivers their
/// fragments.
int64_t readCost(gpu::SmemType memory, llvm::ArrayRef<layout::Layout> readers);

/// The memory for a tile of this element type that threads write in the layout `writer` and read in
/// the layouts `readers`, all of one shape: a swizzle that lets both sides pass without bank
/// conflicts, if there is one. `writeCost` is what it costs to write the tile to such memory, if
/// that is not by stores.
gpu::SmemType stagingType(const layout::Layout &writer, mlir::Type elementType,
                          llvm::ArrayRef<layout::Layout> readers,
                          llvm::function_ref<int64_t(gpu::SmemType)> writeCost = nullptr);

} // namespace tile::passes
