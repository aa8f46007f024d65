#include "ir/gpu/SharedAccesses.h"

using namespace mlir;

namespace tile::gpu {

SmemAllocOp allocationOf(Value memory) {
  if (auto stage = memory.getDefiningOp<SmemStageOp>())
    memory = stage.getMemory();
  return memory.getDefiningOp<SmemAllocOp>();
}

SharedAccesses sharedAccessesOf(func::FuncOp function) {
  SharedAccesses accesses;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<SmemStageOp>(op)) // only computes an address
      return;
    auto add = [&](Value place) {
      if (SmemAllocOp memory = allocationOf(place)) {
        SmallVector<Operation *> &known = accesses[memory];
        if (known.empty() || known.back() != op)
          known.push_back(op);
      }
    };
    llvm::for_each(op->getOperands(), add);
    if (auto access = dyn_cast<SharedAccessOp>(op)) // a wait accesses what is no operand
      for (const SharedAccess &part : access.getSharedAccesses())
        add(part.memory);
  });
  return accesses;
}

} // namespace tile::gpu
