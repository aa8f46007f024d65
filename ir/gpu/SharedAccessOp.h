// The bytes of shared memory that an operation accesses.
#pragma once

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace tile::gpu {

/// One access to a tile in shared memory: bytes `begin` to before `end`, from the tile's first.
struct SharedAccess {
  mlir::Value memory; ///< of type `!tilegpu.smem`
  bool isWrite = false;
  int64_t begin = 0, end = 0;

  /// Accesses of a whole tile.
  static SharedAccess read(mlir::Value memory);
  static SharedAccess write(mlir::Value memory);
};

} // namespace tile::gpu

#include "ir/SharedAccessOp.h.inc"
