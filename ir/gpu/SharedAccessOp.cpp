// The bytes that each operation of `tilegpu` accesses: always whole tiles.
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

// An atomic read-modify-write counts as a write.
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

// The dots in flight read their operands until this wait.
Accesses DotWaitOp::getSharedAccesses() {
  Accesses accesses;
  for (DotAsyncOp product : getDots())
    accesses.append(product.getSharedAccesses());
  return accesses;
}

// It orders accesses, but makes none.
Accesses ProxyFenceOp::getSharedAccesses() { return {}; }

Accesses MbarrierInitOp::getSharedAccesses() { return {SharedAccess::write(getBarriers())}; }

Accesses MbarrierInvalOp::getSharedAccesses() { return {SharedAccess::write(getBarriers())}; }

// Threads may use an mbarrier concurrently, so a use counts as a read: only its initialization and
// its invalidation must be ordered with other accesses to the memory.
Accesses MbarrierExpectOp::getSharedAccesses() { return {SharedAccess::read(getBarriers())}; }

Accesses MbarrierArriveOp::getSharedAccesses() { return {SharedAccess::read(getBarriers())}; }

Accesses MbarrierWaitOp::getSharedAccesses() { return {SharedAccess::read(getBarriers())}; }

Accesses TensorCopyOp::getSharedAccesses() {
  return {SharedAccess::write(getSmem()), SharedAccess::read(getBarriers())};
}

Accesses TensorStoreOp::getSharedAccesses() { return {SharedAccess::read(getSmem())}; }

// The stores in flight read their tiles until this wait.
Accesses TensorStoreWaitOp::getSharedAccesses() {
  Accesses accesses;
  for (Value memory : getMemories())
    accesses.push_back(SharedAccess::read(memory));
  return accesses;
}
