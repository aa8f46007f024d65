#include "passes/registers/RegisterLimits.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/DotLayouts.h"

using namespace mlir;

namespace tile::passes {

/// In steps of which the threads of a warp have registers.
static constexpr int64_t kStep = 8;

// Registers of 32 bits that a thread needs for a tile; narrower elements are mostly computed on one
// a register.
static int64_t registersOf(RankedTensorType tile) {
  return gpu::layoutOf(tile).numRegisters() *
         std::max<int64_t>(1, gpu::bytesOf(tile.getElementType()) / 4);
}

// The assembler, left to itself, would spill far below the registers that there are around products
// and with large tiles.
static bool wantsAllRegisters(func::FuncOp kernel) {
  constexpr int64_t kLargeTile = 64;
  return kernel
      .walk([&](Operation *op) {
        bool large = llvm::any_of(op->getResultTypes(), [](Type type) {
          auto tile = dyn_cast<RankedTensorType>(type);
          return tile && registersOf(tile) >= kLargeTile;
        });
        // What a called function does cannot be seen here any more.
        return large || gpu::isDot(op) || isa<func::CallOp>(op) ? WalkResult::interrupt()
                                                                : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t blocksToFit(func::FuncOp kernel) {
  if (auto wanted = kernel->getAttrOfType<IntegerAttr>(ir::kOccupancyAttr))
    return wanted.getInt();
  return wantsAllRegisters(kernel) ? 1 : 0;
}

bool saysRegisters(func::FuncOp kernel) {
  return kernel->hasAttr(ir::kOccupancyAttr) || kernel->hasAttr(ir::kMaxRegistersAttr);
}

int64_t mostRegistersOf(func::FuncOp kernel, const ir::Target &target) {
  int64_t threads = gpu::threadsOf(kernel) * std::max<int64_t>(1, blocksToFit(kernel));
  int64_t most = std::min<int64_t>(ir::kMaxRegistersPerThread,
                                   target.registersPerSm / threads / kStep * kStep);
  if (auto said = kernel->getAttrOfType<IntegerAttr>(ir::kMaxRegistersAttr))
    most = std::min(most, said.getInt());
  return most;
}

} // namespace tile::passes
