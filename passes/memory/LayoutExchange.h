// A tile changes its layout by way of shared memory: as a whole, or part after part where that is
// too large.
//
//   smem_store part 0; smem_load part 0; smem_store part 1; smem_load part 1; ...     through the memory of one
//
// Parts are what registers alone tell apart in both layouts: by bits of a coordinate, which become
// dimensions of their own.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Shared.h"
#include "mlir/IR/Builders.h"

namespace tile::passes {

/// The bytes of an element in shared memory, where an i1 takes one.
int bytesOfElement(mlir::RankedTensorType tile);

/// Shared memory for a tile.
mlir::Value allocateShared(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType tile, const layout::SharedLayout &shared);

/// The tile in the layout of `target`, as a whole.
mlir::Value exchange(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile,
                     mlir::RankedTensorType target);

/// The same in parts of at most so many bytes, or in the smallest there are if these fit a block;
/// else as a whole.
mlir::Value exchangeWithin(int64_t mostBytes, int64_t bytesOfBlock, mlir::OpBuilder &builder,
                           mlir::Location loc, mlir::Value tile, mlir::RankedTensorType target);

} // namespace tile::passes
