// What the warps of a block demand that do different things.
#include "ir/gpu/TileGpuDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

void BarrierOp::build(OpBuilder &b, OperationState &state, StringRef reason) {
  if (!reason.empty())
    state.getOrAddProperties<Properties>().reason = b.getStringAttr(reason);
}

LogicalResult SetMaxRegistersOp::verify() {
  constexpr uint32_t kStep = 8;
  if (getCount() % kStep)
    return emitOpError("registers come in steps of ") << kStep << ", got " << getCount();
  return success();
}
