// How threads share the copy of a tile from global to shared memory: an asynchronous copy passes
// through no registers, so that its layout is nobody's but its own.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Layout.h"

#include <optional>

namespace tile::gpu {

/// Who copies what: register r of a layout stands for a thread's element number r.
struct AsyncCopyPlan {
  layout::Layout inView;   ///< in the view's rank
  layout::Layout inMemory; ///< in the rank of the shared memory
  int32_t elements = 0;    ///< that one instruction copies: 4, 8 or 16 bytes
};

/// The plan for the tile of `shape` of an access of a view to memory of type `memory`; nothing if
/// fewer than 4 bytes are neighbours on both sides. `access` carries `tilegpu.access`.
std::optional<AsyncCopyPlan> planAsyncCopy(mlir::Operation *access, llvm::ArrayRef<int64_t> shape,
                                           SmemType memory, int64_t warps);

} // namespace tile::gpu
