// How the copy engine moves a tile of a view to shared memory: in boxes, each by one instruction of
// one thread.
#pragma once

#include "base/Refusal.h"
#include "ir/gpu/TileGpuDialect.h"

#include <optional>

namespace tile::gpu {

/// One instruction: elements from the tile's first to the box's first, a dimension of the view
/// each, and how many bytes from the start of the memory it goes to.
struct TensorBox {
  llvm::SmallVector<int64_t> start;
  int64_t bytes;
};

/// What is copied, and by which tensor map.
struct TensorCopyPlan {
  TensorMapAttr map;
  /// Dimensions of the view from the fastest varying, as the map has them.
  llvm::SmallVector<int32_t> order;
  llvm::SmallVector<TensorBox> boxes;
};

/// The plan for the tile of `shape` of an access of a view, which carries `tilegpu.access`, to
/// memory of type `memory`; nothing, with a sentence in *why, if the engine cannot do it. That the
/// tile's place is one that it takes is not looked at.
std::optional<TensorCopyPlan> planTensorCopy(mlir::Operation *access, mlir::Value view,
                                             llvm::ArrayRef<int64_t> shape, SmemType memory,
                                             Refusal *why = nullptr);

/// What one of several blocks copies so that all have the tile: these boxes, by this map, each a
/// block's rank times `ofEach` further.
struct TensorShare {
  TensorMapAttr map;
  llvm::SmallVector<TensorBox> boxes;
  TensorBox ofEach;
};

/// As many boxes for each block, or a part of the only box. Of one block it is the plan. Nothing if
/// the boxes cannot be shared equally.
std::optional<TensorShare> shareOf(const TensorCopyPlan &plan, SmemType memory, int64_t blocks);

/// Memory for such a copy: with the widest swizzle that the tile's rows are a multiple of. Null if
/// there is none.
SmemType tensorCopyMemory(mlir::Operation *access, llvm::ArrayRef<int64_t> shape,
                          mlir::Type element, llvm::ArrayRef<int64_t> memoryShape);

} // namespace tile::gpu
