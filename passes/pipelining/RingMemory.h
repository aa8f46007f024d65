// What a ring becomes in shared memory: its stages, and for what the copy engine brings barriers,
// one a stage.
#pragma once

#include "passes/pipelining/RingForm.h"

namespace tile::passes {

class RingMemory {
public:
  /// Allocates where the ring is made.
  RingMemory(gpu::RingAllocOp ring, const RingForm &form);

  gpu::SmemAllocOp tile(size_t part) const { return tiles_[part]; }
  /// At which the bytes of fills arrive; null unless the engine copies.
  gpu::SmemAllocOp barriers() const { return barriers_; }
  /// At which readers release fills; null unless groups of warps drift apart.
  gpu::SmemAllocOp releases() const { return releases_; }

  /// From stage to stage, of each tile and of barriers.
  llvm::SmallVector<int64_t> strides() const;

  /// Makes the barriers before each run of fills, so that phases begin at 0, and gives them up
  /// behind it.
  void initializeBarriers();

  /// A warp arrives at the release at a distance from the first.
  void arrive(mlir::OpBuilder &b, mlir::Location loc, mlir::Value distance, mlir::Value predicate);

  /// Has one thread of the scope execute what `make` builds.
  void inOneThread(mlir::OpBuilder &b, gpu::Scope scope, llvm::function_ref<void()> make,
                   mlir::Value predicate = {});

  /// Who shares the ring: all teams, or each has one of its own.
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
