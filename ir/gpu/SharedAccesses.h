// The allocation of shared memory that a value belongs to, and the operations that access it;
// stages count as their allocation.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace tile::gpu {

/// The allocation that `memory` is, or is a stage of; null if unknown.
SmemAllocOp allocationOf(mlir::Value memory);

/// Per allocation, the operations that access it or one of its stages, in program order.
using SharedAccesses = llvm::MapVector<SmemAllocOp, llvm::SmallVector<mlir::Operation *>>;
SharedAccesses sharedAccessesOf(mlir::func::FuncOp function);

} // namespace tile::gpu
