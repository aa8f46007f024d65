// AllocateShared: applies the resource plan, or says who needs what when it does not fit.
#include "passes/Passes.h"

#include "ir/Target.h"
#include "ir/UserError.h"
#include "passes/analysis/ResourcePlan.h"

namespace tile::passes {
#define GEN_PASS_DEF_ALLOCATESHARED
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

struct AllocateShared : passes::impl::AllocateSharedBase<AllocateShared> {
  using AllocateSharedBase::AllocateSharedBase;

  void runOnOperation() final {
    std::optional<ir::Target> found = ir::findTarget(target);
    if (!found) {
      ir::userError(getOperation().emitError("unknown target '"), ErrorCode::InvalidArgument)
          << target << "'; known: " << ir::knownTargets();
      return signalPassFailure();
    }
    ResourcePlan plan(getOperation());
    if (plan.sharedBytes() > found->maxSharedBytesPerBlock)
      return reportOverflow(plan, *found);
    OpBuilder builder(&getContext());
    for (const SharedAllocation &allocation : plan.allocations())
      gpu::SmemAllocOp(allocation.op).setOffsetAttr(builder.getI32IntegerAttr(allocation.offset));
    getOperation()->setAttr(gpu::kSharedBytesAttr, builder.getI32IntegerAttr(plan.sharedBytes()));
  }

  void reportOverflow(const ResourcePlan &plan, const ir::Target &gpu) {
    InFlightDiagnostic diagnostic =
        ir::userError(getOperation().emitError(), ErrorCode::ResourceExceeded)
        << "shared memory: the kernel needs " << plan.sharedBytes() << " bytes a block, "
        << gpu.name << " allows " << gpu.maxSharedBytesPerBlock << "; use smaller tiles";
    for (const SharedAllocation &allocation : plan.allocations())
      diagnostic.attachNote(allocation.op->getLoc())
          << allocation.bytes << " bytes for " << allocation.op->getResult(0).getType();
    signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
