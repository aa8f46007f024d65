// Changes of a tile's layout through shared memory: as a whole, or in pieces if it is too large.
//
//   smem_store piece 0; smem_load piece 0; smem_store piece 1; smem_load piece 1; ...
//
// All pieces use the memory of one. In both layouts registers alone tell pieces apart: by bits of a
// coordinate, which become dimensions of their own.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Shared.h"
#include "mlir/IR/Builders.h"

namespace tile::passes {

/// The bytes of an element in shared memory; an i1 takes one.
int bytesOfElement(mlir::RankedTensorType tile);

mlir::Value allocateShared(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::RankedTensorType tile, const layout::SharedLayout &shared);

/// The tile in the layout of `target`, exchanged as a whole.
mlir::Value exchange(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile,
                     mlir::RankedTensorType target);

/// The same in pieces of at most `mostBytes`, or in the smallest if those fit a block; else as a
/// whole.
mlir::Value exchangeWithin(int64_t mostBytes, int64_t bytesOfBlock, mlir::OpBuilder &builder,
                           mlir::Location loc, mlir::Value tile, mlir::RankedTensorType target);

} // namespace tile::passes
