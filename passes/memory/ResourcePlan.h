// The shared memory that a kernel's blocks need, and the offset of each allocation. Passes that add
// allocations ask before they do; AllocateShared applies the plan.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// One allocation: its bytes, and the operations between which its contents matter (numbered in
/// program order; for an allocation before a loop the loop counts as a whole).
struct SharedAllocation {
  gpu::SmemAllocOp op;
  int64_t bytes = 0;
  int64_t firstUse = 0, lastUse = 0;
  int64_t offset = 0;

  bool isAliveWith(const SharedAllocation &other) const {
    return firstUse <= other.lastUse && other.firstUse <= lastUse;
  }
};

/// Offsets for all allocations of a function: those that are alive together do not overlap. Teams
/// are not at the same point of the program together, so memory of one team never shares bytes with
/// that of the block.
class ResourcePlan {
public:
  explicit ResourcePlan(mlir::func::FuncOp function);

  llvm::ArrayRef<SharedAllocation> allocations() const { return all_; }
  /// The offset of the first byte must be a multiple of this.
  int64_t alignment() const {
    int64_t most = gpu::kSharedAlignment;
    for (SharedAllocation allocation : all_)
      most = std::max<int64_t>(most, allocation.op.getAlignment());
    return most;
  }
  /// Bytes of shared memory per block.
  int64_t sharedBytes() const { return total_; }
  /// Bytes of these per team, before the memory of the block; 0 without teams.
  int64_t teamBytes() const { return teamBytes_; }

private:
  int64_t place(llvm::function_ref<bool(gpu::SmemAllocOp)> isMeant, int64_t begin);

  llvm::SmallVector<SharedAllocation> all_;
  int64_t total_ = 0, teamBytes_ = 0;
};

} // namespace tile::passes
