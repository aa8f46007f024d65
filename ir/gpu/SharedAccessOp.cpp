// Which bytes each operation of `tilegpu` touches: all reach whole tiles.
#include "ir/gpu/SharedAccessOp.h"

#include "ir/gpu/TileGpuDialect.h"

using namespace mlir;
using namespace tile::gpu;

#include "ir/SharedAccessOp.cpp.inc"

SharedAccess SharedAccess::read(Value memory) {
  return {memory, false, 0, cast<SmemType>(memory.getType()).getBytes()};
}

SharedAccess SharedAccess::write(Value memory) {
  return {memory, true, 0, cast<SmemType>(memory.getType()).getBytes()};
}

using Accesses = SmallVector<SharedAccess, 2>;

Accesses SmemStoreOp::getSharedAccesses() { return {SharedAccess::write(getSmem())}; }

Accesses SmemLoadOp::getSharedAccesses() { return {SharedAccess::read(getSmem())}; }

Accesses SmemGatherOp::getSharedAccesses() { return {SharedAccess::read(getSmem())}; }

// A counter is read and written in one step, which barriers see as a write.
Accesses SmemCountOp::getSharedAccesses() { return {SharedAccess::write(getSmem())}; }

Accesses CopyAsyncOp::getSharedAccesses() { return {SharedAccess::write(getSmem())}; }

Accesses SmemDotOp::getSharedAccesses() {
  return {SharedAccess::read(getA()), SharedAccess::read(getB())};
}

Accesses DotAsyncOp::getSharedAccesses() {
  Accesses accesses = {SharedAccess::read(getB())};
  if (!takesAFromRegisters())
    accesses.push_back(SharedAccess::read(getA()));
  return accesses;
}

// Until then the products read their operands.
Accesses DotWaitOp::getSharedAccesses() {
  Accesses accesses;
  for (DotAsyncOp product : getDots())
    accesses.append(product.getSharedAccesses());
  return accesses;
}

// It touches nothing itself.
Accesses ProxyFenceOp::getSharedAccesses() { return {}; }

Accesses MbarrierInitOp::getSharedAccesses() { return {SharedAccess::write(getBarriers())}; }

Accesses MbarrierInvalOp::getSharedAccesses() { return {SharedAccess::write(getBarriers())}; }

// Barriers are made for being used by several threads at once: only their beginning and end must be
// ordered with what else is in their memory.
Accesses MbarrierExpectOp::getSharedAccesses() { return {SharedAccess::read(getBarriers())}; }

Accesses MbarrierArriveOp::getSharedAccesses() { return {SharedAccess::read(getBarriers())}; }

Accesses MbarrierWaitOp::getSharedAccesses() { return {SharedAccess::read(getBarriers())}; }

Accesses TensorCopyOp::getSharedAccesses() {
  return {SharedAccess::write(getSmem()), SharedAccess::read(getBarriers())};
}

Accesses TensorStoreOp::getSharedAccesses() { return {SharedAccess::read(getSmem())}; }

// Until then the stores read their tiles.
Accesses TensorStoreWaitOp::getSharedAccesses() {
  Accesses accesses;
  for (Value memory : getMemories())
    accesses.push_back(SharedAccess::read(memory));
  return accesses;
}
