// How the copy engine stores a tile that threads hold: part after part, each by way of shared
// memory.
#pragma once

#include "base/Refusal.h"
#include "ir/gpu/TileGpuDialect.h"

#include <optional>

namespace tile::gpu {

struct TensorStorePlan {
  /// A part of the tile, as threads hold it.
  mlir::RankedTensorType part;
  /// Where they put it, for the engine to take it from there.
  SmemType memory;
};

/// The plan for a store, which carries `tilegpu.access`, of a tile that threads hold as `tile`
/// says; nothing, with a sentence in *why, if the engine cannot do it, or threads cannot put their
/// parts by matrices. That the tile's place is one that the engine takes is not looked at.
std::optional<TensorStorePlan> planTensorStore(ir::ViewStoreOp store, mlir::RankedTensorType tile,
                                               Refusal *why = nullptr);

/// The largest part of a tile of which a thread holds few elements, with whole lines along the
/// fastest dimension; null if there is none.
mlir::RankedTensorType storedPart(mlir::RankedTensorType tile, int32_t fastestDim);

} // namespace tile::gpu
