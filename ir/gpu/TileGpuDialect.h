// The dialect `tilegpu` in C++: layout attributes, shared-memory types, operations.
#pragma once

#include "ir/gpu/SharedAccessOp.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "ir/TileGpuDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/TileGpuTypes.h.inc"

namespace tile::gpu {

/// The resource of side effects on shared memory, which do not touch global memory.
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "SharedMemory"; }
};

/// The least alignment of allocations in shared memory: enough for 16-byte accesses, and for
/// swizzled rows of up to 128 bytes to start at a multiple of their size.
inline constexpr int32_t kSharedAlignment = 128;

/// The tile of a type in flight; else the type itself.
mlir::Type tileOf(mlir::Type type);

/// Bytes of an mbarrier.
inline constexpr int32_t kBarrierBytes = 8;

/// Can a copy between a view with this number of offsets and memory of type `smem` move a tile of
/// `shape`? Emits an error at `op` if not.
mlir::LogicalResult verifyCopiedTile(mlir::Operation *op, ir::ViewType view, size_t offsets,
                                     llvm::ArrayRef<int64_t> shape, SmemType smem);

} // namespace tile::gpu

#define GET_OP_CLASSES
#include "ir/TileGpuOps.h.inc"
