// How a change of layout is carried out.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Conversion.h"

namespace tile::gpu {

/// The plan of a change: the cheapest means, or shuffles where they were chosen.
layout::Conversion planOf(ConvertLayoutOp change);

/// Its shuffles, by words: pairs of 16-bit elements that stay together move as one. Nothing if
/// elements move by themselves.
std::optional<layout::ShufflePlan> shufflesOfPairs(ConvertLayoutOp change,
                                                   const layout::Conversion &plan);

/// The type of a tile of 16-bit elements that is stored 16 bytes at a time, where four neighbouring
/// lanes hold 64 bytes of a row: from the accumulators of products it is reached by shuffles within
/// these lanes. Null if it is not, or if the cheapest means from there to `wanted` is not shared
/// memory.
mlir::RankedTensorType typeInQuads(mlir::RankedTensorType accumulators,
                                   mlir::RankedTensorType wanted, int32_t fastestDim);

} // namespace tile::gpu
