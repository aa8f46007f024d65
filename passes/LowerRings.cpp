// LowerRings: a ring filled by plain stores is its slot in shared memory. Nothing waits here: PlaceBarriers sees the bytes
// and orders them.
#include "passes/Passes.h"

namespace tile::passes {
#define GEN_PASS_DEF_LOWERRINGS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

struct LowerRings : passes::impl::LowerRingsBase<LowerRings> {
  void runOnOperation() final {
    SmallVector<gpu::RingAllocOp> rings;
    getOperation().walk([&](gpu::RingAllocOp ring) { rings.push_back(ring); });
    for (gpu::RingAllocOp ring : rings)
      if (failed(lower(ring)))
        return signalPassFailure();
  }

  LogicalResult lower(gpu::RingAllocOp ring) {
    gpu::RingType type = ring.getRing().getType();
    if (type.getSlots() != 1)
      return ring.emitOpError("has ")
             << type.getSlots() << " slots; rings filled by plain stores have one slot";
    OpBuilder builder(ring);
    Value smem =
        gpu::SmemAllocOp::create(builder, ring.getLoc(), type.getSlotType(), IntegerAttr());
    for (Operation *user : llvm::make_early_inc_range(ring->getUsers())) {
      builder.setInsertionPoint(user);
      if (auto put = dyn_cast<gpu::RingPutOp>(user))
        gpu::SmemStoreOp::create(builder, put.getLoc(), put.getValue(), smem);
      else if (auto get = dyn_cast<gpu::RingGetOp>(user))
        get.getResult().replaceAllUsesWith(smem);
      else if (!isa<gpu::RingReleaseOp>(user))
        return user->emitOpError("is not an operation on rings that this pass knows");
      user->erase();
    }
    ring.erase();
    return success();
  }
};

} // namespace

} // namespace tile::passes
