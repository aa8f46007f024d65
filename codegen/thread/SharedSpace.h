// The block's shared memory: addresses of what the passes have placed in it.
//
// Guarantees: an address is the offset that AllocateShared gave an allocation, moved by the
// distance of a stage and, where several teams execute the program, by what lies before the memory
// of the thread's own team.
#pragma once

#include "codegen/thread/Threads.h"

namespace tile::codegen {

/// The name of the array that stands for the block's shared memory.
inline constexpr llvm::StringLiteral kSharedSymbol = "tile_shared";

class SharedSpace {
public:
  SharedSpace(ThreadValues &values, Threads &threads) : values_(values), threads_(threads) {}

  /// The block's shared memory at a byte offset, as `!llvm.ptr<3>`.
  mlir::Value pointer(mlir::Value byteOffset);
  /// Where a tile in shared memory starts.
  struct Place {
    int64_t offset = 0; ///< in bytes from the block's first
    mlir::Value moved;  ///< what is added to it, in bytes; null if nothing is
  };
  Place placeOf(mlir::Value smem);
  /// The address of a byte in a tile in shared memory, as a number: `byteOffset` and `moved`,
  /// unless it is null, from where the tile starts.
  mlir::Value address(mlir::Value smem, int64_t byteOffset, mlir::Value moved = {});
  /// Is this memory of an allocation, so that it has a place?
  static bool hasPlace(mlir::Value smem);

private:
  mlir::Value teamMemory();

  ThreadValues &values_;
  Threads &threads_;
  mlir::Value teamMemory_;
};

} // namespace tile::codegen
