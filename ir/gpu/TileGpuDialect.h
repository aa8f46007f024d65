// The dialect `tilegpu` in C++: layout attributes, shared-memory types, operations.
#pragma once

#include "ir/gpu/SharedAccessOp.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "ir/TileGpuDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/TileGpuTypes.h.inc"

namespace tile::gpu {

/// Shared memory, for side effects: accesses of it do not touch global memory.
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "SharedMemory"; }
};

/// Every allocation of shared memory starts at a multiple of so many bytes at least: enough for
/// 16-byte accesses and for the swizzle patterns of rows up to 128 bytes to begin anew.
inline constexpr int32_t kSharedAlignment = 128;

/// The tile of a type in flight; any other type itself.
mlir::Type tileOf(mlir::Type type);

/// Bytes of a barrier in shared memory that counts what the copy engine delivers.
inline constexpr int32_t kBarrierBytes = 8;

/// Fits the tile of `shape`, at so many offsets in a view, memory of type `smem` that it is copied
/// to? An error at `op` if not.
mlir::LogicalResult verifyCopiedTile(mlir::Operation *op, ir::ViewType view, size_t offsets,
                                     llvm::ArrayRef<int64_t> shape, SmemType smem);

} // namespace tile::gpu

#define GET_OP_CLASSES
#include "ir/TileGpuOps.h.inc"
