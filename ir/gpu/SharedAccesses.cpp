#include "ir/gpu/SharedAccesses.h"

using namespace mlir;

namespace tile::gpu {

SmemAllocOp allocationOf(Value memory) {
  if (auto slot = memory.getDefiningOp<SmemSlotOp>())
    memory = slot.getMemory();
  return memory.getDefiningOp<SmemAllocOp>();
}

SharedAccesses sharedAccessesOf(func::FuncOp function) {
  SharedAccesses accesses;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<SmemSlotOp>(op)) // names a place, and touches nothing
      return;
    for (Value operand : op->getOperands())
      if (SmemAllocOp memory = allocationOf(operand)) {
        SmallVector<Operation *> &known = accesses[memory];
        if (known.empty() || known.back() != op)
          known.push_back(op);
      }
  });
  return accesses;
}

} // namespace tile::gpu
