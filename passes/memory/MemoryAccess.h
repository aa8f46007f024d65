// Which memory operations touch, as far as threads must wait for each other for it.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

#include <string>

namespace tile::passes {

/// One access: bytes of shared memory, or some of a global argument's tensor.
struct Access {
  mlir::Operation *op = nullptr;
  bool isWrite = false;
  bool isShared = false;
  int64_t begin = 0, end = 0; ///< bytes, if shared
  mlir::Value allocation;     ///< that the bytes are of, if shared and known
  bool isStage = false;       ///< one of several of the allocation
  bool isOfTeams = false;     ///< common to all teams that carry out the program
  mlir::Value root;           ///< the pointer argument, if global; null: any
  bool acquires = false;      ///< what comes later must wait for it, whatever it touches
  bool releases = false;      ///< it must wait for what came before

  bool operator==(const Access &) const = default;
};
using Accesses = llvm::SmallVector<Access, 2>;

/// What an operation touches; nothing for one without accesses. `verifyAccessesKnown` refuses those
/// that would be overlooked.
Accesses accessesOf(mlir::Operation *op);

/// Is this code whose accesses cannot be seen?
bool isForeign(mlir::Operation *op);

/// An operation that was overlooked would race: whatever may touch shared memory says how, and
/// bodies that may be executed several times or not at all are those that `PlaceBarriers` goes
/// through. An error if not.
mlir::LogicalResult verifyAccessesKnown(mlir::Operation *op);

} // namespace tile::passes
