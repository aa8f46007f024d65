// The dialect `tilegpu` in C++: layout attributes, shared-memory types, operations.
#pragma once

#include "ir/SharedAccessOp.h"
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

/// Every allocation of shared memory starts at a multiple of so many bytes at least: enough for 16-byte accesses and for
/// the swizzle patterns of rows up to 128 bytes to begin anew.
inline constexpr int32_t kSharedAlignment = 128;

/// The tile of a type in flight; any other type itself.
mlir::Type tileOf(mlir::Type type);

} // namespace tile::gpu

#define GET_OP_CLASSES
#include "ir/TileGpuOps.h.inc"
