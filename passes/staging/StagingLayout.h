// The layout of a tile in shared memory, between its writer and its readers.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/SharedAccess.h"

namespace tile::passes {

/// Cycles in which a warp accesses a whole tile: instructions issued plus wavefronts of shared
/// memory.
int64_t accessCost(const layout::Layout &layout, const layout::SharedLayout &shared, int64_t bytes,
                   const layout::VectorGroup &group);
int64_t accessCost(const layout::Layout &layout, const layout::SharedLayout &shared, int64_t bytes);

/// Is a tile at most a single row? It takes few accesses in any layout, and no swizzle pattern fits
/// in it.
bool isRow(llvm::ArrayRef<int64_t> shape);

/// Cycles per warp for all readers of a tile, by ldmatrix if that delivers their fragments.
int64_t readCost(gpu::SmemType memory, llvm::ArrayRef<layout::Layout> readers);

/// The memory for a tile that threads write in the layout `writer` and read in the layouts
/// `readers`, all of one shape: with a swizzle that avoids bank conflicts on both sides, if there
/// is one. `writeCost` is given if the tile is not written by plain stores.
gpu::SmemType stagingType(const layout::Layout &writer, mlir::Type elementType,
                          llvm::ArrayRef<layout::Layout> readers,
                          llvm::function_ref<int64_t(gpu::SmemType)> writeCost = nullptr);

} // namespace tile::passes
