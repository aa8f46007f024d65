// What a kernel needs of a block's shared memory, and where each allocation may go. Passes that add
// to it ask before they do; the pass that places allocations applies it.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// One allocation: its bytes, and the operations between which its contents matter (numbered in
/// program order; a loop counts as a whole for what is made before it).
struct SharedAllocation {
  gpu::SmemAllocOp op;
  int64_t bytes = 0;
  int64_t firstUse = 0, lastUse = 0;
  int64_t offset = 0;

  bool isAliveWith(const SharedAllocation &other) const {
    return firstUse <= other.lastUse && other.firstUse <= lastUse;
  }
};

/// Offsets for all allocations of a function: those alive together do not overlap. Where several
/// teams carry out a program they are not together at any point of it: what each has for itself
/// never shares bytes with what is of the block.
class ResourcePlan {
public:
  explicit ResourcePlan(mlir::func::FuncOp function);

  llvm::ArrayRef<SharedAllocation> allocations() const { return all_; }
  /// What the first byte's offset must be a multiple of.
  int64_t alignment() const {
    int64_t most = gpu::kSharedAlignment;
    for (SharedAllocation allocation : all_)
      most = std::max<int64_t>(most, allocation.op.getAlignment());
    return most;
  }
  /// Bytes of shared memory a block needs.
  int64_t sharedBytes() const { return total_; }
  /// Bytes of these that each team has for itself, before what is of the block; 0 without teams.
  int64_t teamBytes() const { return teamBytes_; }

private:
  int64_t place(llvm::function_ref<bool(gpu::SmemAllocOp)> isMeant, int64_t begin);

  llvm::SmallVector<SharedAllocation> all_;
  int64_t total_ = 0, teamBytes_ = 0;
};

} // namespace tile::passes
