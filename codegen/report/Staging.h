// How tiles get into shared memory and out of it again, seen through the stages of allocations.
#pragma once

#include "ir/gpu/SharedAccesses.h"
#include "llvm/ADT/DenseSet.h"

namespace tile::codegen {

/// The load that a tile comes from, unchanged but for its layout, its rank and a branch that may leave it out; null if it
/// comes from elsewhere.
ir::ViewLoadOp loadBehind(mlir::Value tile);

/// Copies, stores and their loads that fill stages before the loop that reads them. The loop fills them again for later
/// iterations, and not in its last ones: as many fills as it has iterations, so that a count of its body counts these.
llvm::DenseSet<mlir::Operation *> fillsBeforeLoops(const gpu::SharedAccesses &accesses);

/// Who fills an allocation and who reads it, as "cp.async of argument 1 at line 7", "operand A of the product at line 7".
struct StagingText {
  std::vector<std::string> filledBy, readBy;
};
StagingText stagingOf(gpu::SmemAllocOp memory, llvm::ArrayRef<mlir::Operation *> accesses);

/// The product that takes what a read of shared memory delivers as an operand: "operand A of the product at line 7"; empty
/// if none does.
std::string operandText(mlir::Operation *read, gpu::SmemAllocOp memory);

} // namespace tile::codegen
