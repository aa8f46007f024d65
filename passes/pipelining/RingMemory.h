// The shared memory of a ring: S stages per operand and, if TMA fills it, S mbarriers of each kind.
#pragma once

#include "passes/pipelining/RingForm.h"

namespace tile::passes {

class RingMemory {
public:
  RingMemory(gpu::RingAllocOp ring, const RingForm &form);

  gpu::SmemAllocOp tile(size_t part) const { return tiles_[part]; }
  /// The *full* mbarriers, at which the bytes of fills arrive; null unless TMA copies.
  gpu::SmemAllocOp barriers() const { return barriers_; }
  /// The *empty* mbarriers, at which consumers release fills; null unless warpgroups run
  /// independently.
  gpu::SmemAllocOp releases() const { return releases_; }

  llvm::SmallVector<int64_t> strides() const;

  /// Initializes the mbarriers before each run of the ring, so that its phases begin at 0, and
  /// invalidates them after it.
  void initializeBarriers();

  /// One arrival per warp at the *empty* mbarrier whose offset is `distance`.
  void arrive(mlir::OpBuilder &b, mlir::Location loc, mlir::Value distance, mlir::Value predicate);

  void inOneThread(mlir::OpBuilder &b, gpu::Scope scope, llvm::function_ref<void()> make,
                   mlir::Value predicate = {});

  /// The threads that share the ring: one ring for all teams, or one per team.
  gpu::Scope scope() const {
    return form_.isSharedByTeams ? gpu::Scope::Consumers : gpu::Scope::Team;
  }

private:
  void shareByTeams(gpu::SmemAllocOp memory);
  gpu::SmemAllocOp allocateBarriers(mlir::OpBuilder &b);
  void initialize(mlir::OpBuilder &b);
  void invalidate(mlir::OpBuilder &b);
  gpu::Scope scopeOfBarrier() const;

  gpu::RingAllocOp ring_;
  const RingForm &form_;
  int32_t stages_;
  llvm::SmallVector<gpu::SmemAllocOp> tiles_;
  gpu::SmemAllocOp barriers_, releases_;
};

} // namespace tile::passes
