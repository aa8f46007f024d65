// Verifiers of mbarriers and TMA copies.
#include "ir/gpu/TileGpuDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

void ElectOp::build(OpBuilder &b, OperationState &state, Value predicate, Scope scope) {
  if (predicate)
    state.addOperands(predicate);
  state.getOrAddProperties<Properties>().scope = ScopeAttr::get(b.getContext(), scope);
  state.addRegion()->emplaceBlock();
}

LogicalResult ElectOp::verify() {
  if (getBody().getNumArguments())
    return emitOpError("the body takes no arguments");
  if ((*this)->getParentOfType<ElectOp>())
    return emitOpError("stands in another tilegpu.elect, whose thread is elected already");
  return success();
}

// mbarriers are adjacent words of 64 bits.
static LogicalResult verifyBarriers(Operation *op, SmemType barriers) {
  if (barriers.getShape().size() == 1 && barriers.getElementType().isInteger(64) &&
      barriers.getBytes() == barriers.getShape()[0] * kBarrierBytes)
    return success();
  return op->emitOpError("barriers must be a row of i64, one after the other, got ") << barriers;
}

LogicalResult MbarrierInitOp::verify() {
  constexpr int32_t kMostArrivals = (1 << 20) - 1;
  auto arrivals = static_cast<int32_t>(getArrivals());
  if (arrivals < 1 || arrivals > kMostArrivals)
    return emitOpError("arrivals must be 1 to ") << kMostArrivals << ", got " << arrivals;
  return verifyBarriers(*this, getBarriers().getType());
}

LogicalResult MbarrierArriveOp::verify() { return verifyBarriers(*this, getBarriers().getType()); }

LogicalResult MbarrierInvalOp::verify() { return verifyBarriers(*this, getBarriers().getType()); }

LogicalResult MbarrierWaitOp::verify() { return verifyBarriers(*this, getBarriers().getType()); }

LogicalResult MbarrierExpectOp::verify() {
  constexpr int32_t kMostBytes =
      (1 << 20) - 1; // the most that the transaction count of a phase can hold
  auto bytes = static_cast<int32_t>(getBytes());
  if (bytes < 0 || bytes > kMostBytes)
    return emitOpError("a phase counts at most ") << kMostBytes << " bytes, got " << bytes;
  return verifyBarriers(*this, getBarriers().getType());
}

LogicalResult TensorStoreOp::verify() {
  return verifyCopiedTile(*this, getView().getType(), getOffsets().size(), getShape(),
                          getSmem().getType());
}

LogicalResult TensorCopyOp::verify() {
  if (failed(verifyCopiedTile(*this, getView().getType(), getOffsets().size(), getShape(),
                              getSmem().getType())))
    return failure();
  return verifyBarriers(*this, getBarriers().getType());
}
