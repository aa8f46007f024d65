// Which allocation of shared memory a value belongs to, and which operations access it, seen
// through stages.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace tile::gpu {

/// The allocation that memory is, or is a stage of; null if it cannot be seen.
SmemAllocOp allocationOf(mlir::Value memory);

/// Per allocation the operations that read or write it or one of its stages, in program order.
using SharedAccesses = llvm::MapVector<SmemAllocOp, llvm::SmallVector<mlir::Operation *>>;
SharedAccesses sharedAccessesOf(mlir::func::FuncOp function);

} // namespace tile::gpu
