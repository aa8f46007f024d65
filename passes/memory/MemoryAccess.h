// The memory accesses of operations, for which threads may have to synchronize.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

#include <string>

namespace tile::passes {

/// One access: bytes of shared memory, or elements of a global argument's tensor.
struct Access {
  mlir::Operation *op = nullptr;
  bool isWrite = false;
  bool isShared = false;
  int64_t begin = 0, end = 0; ///< bytes, if shared
  mlir::Value allocation;     ///< that the bytes belong to, if shared and known
  bool isStage = false;       ///< one of several of the allocation
  bool isOfTeams = false;     ///< the memory is common to all teams
  mlir::Value root;           ///< the pointer argument, if global; null: any
  bool acquires = false;      ///< all later accesses must come after it
  bool releases = false;      ///< all earlier accesses must come before it

  bool operator==(const Access &) const = default;
};
using Accesses = llvm::SmallVector<Access, 2>;

/// The accesses of an operation. Operations whose accesses would be overlooked are refused by
/// `verifyAccessesKnown`.
Accesses accessesOf(mlir::Operation *op);

/// Is this code whose accesses are unknown?
bool isForeign(mlir::Operation *op);

/// Emits an error for an operation that would be overlooked, and so race: one that may access
/// shared memory without SharedAccessOp, or with a body that accesses memory and that
/// `PlaceBarriers` does not visit.
mlir::LogicalResult verifyAccessesKnown(mlir::Operation *op);

} // namespace tile::passes
