// Which bytes of shared memory an operation touches.
#pragma once

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

namespace tile::gpu {

/// One access of a tile in shared memory: of the bytes from `begin` to before `end`, counted from
/// the tile's first.
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
