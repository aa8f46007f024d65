#include "passes/pipelining/analysis/WarpRoles.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/LoopAnnotations.h"
#include "ir/gpu/WarpRoles.h"
#include "ir/instructions/Wgmma.h"
#include "passes/analysis/RunAhead.h"
#include "passes/pipelining/analysis/RingProtocol.h"
#include "passes/pipelining/analysis/RoleSlice.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tile::passes {

// A producer warp needs a share of the registers and named barriers that no user code uses, so
// nothing else in the kernel may decide on either.
static Refusal whyNotInKernel(func::FuncOp kernel) {
  int64_t warps = ir::warpsOf(kernel) * ir::teamsOf(kernel);
  if (kernel->hasAttr(ir::kCallableAttr))
    return "it is in a function that kernels call";
  if (warps % ir::kWarpsPerWarpgroup || warps + gpu::kProducerWarps > gpu::kMostWarps)
    return "the kernel has " + std::to_string(warps) +
           " warps, not groups of four that leave room for " + std::to_string(gpu::kProducerWarps) +
           " more";
  if (kernel->hasAttr(ir::kMaxRegistersAttr))
    return "the kernel says how many registers a thread has";
  if (auto blocks = kernel->getAttrOfType<IntegerAttr>(ir::kOccupancyAttr);
      blocks && blocks.getInt() > 1)
    return "the kernel wants several blocks on a multiprocessor";
  bool mayMeet = kernel
                     .walk([](Operation *op) {
                       bool isForeign = isa<ir::InlinePtxOp, ir::InlineCudaOp, func::CallOp>(op) &&
                                        !isMemoryEffectFree(op);
                       return isForeign || isa<ir::DebugBarrierOp>(op) ? WalkResult::interrupt()
                                                                       : WalkResult::advance();
                     })
                     .wasInterrupted();
  if (mayMeet)
    return "the kernel has a barrier, or code that may have one";
  bool meetsInLoop = kernel
                         .walk([](ir::ClusterSumOp sum) {
                           return sum->getParentOfType<LoopLikeOpInterface>()
                                      ? WalkResult::interrupt()
                                      : WalkResult::advance();
                         })
                         .wasInterrupted();
  return meetsInLoop ? "all warps of a cluster meet in one of the kernel's loops" : "";
}

Refusal whyNoProducer(scf::ForOp loop, int32_t stages) {
  SmallVector<gpu::RingAllocOp> rings;
  for (gpu::ProducerAcquireOp acquire : ringsOf(loop))
    rings.push_back(acquire.getRing().getDefiningOp<gpu::RingAllocOp>());
  if (rings.empty() || stages < 2)
    return "none of its loads runs ahead";
  if (!llvm::all_of(rings, isFilledByTma))
    return "threads load some of what its products read";
  auto kernel = loop->getParentOfType<func::FuncOp>();
  if (Refusal why = whyNotInKernel(kernel))
    return why;
  SmallVector<Operation *> fills;
  for (gpu::RingAllocOp ring : rings)
    for (Operation *user : ring->getUsers())
      if (isa<gpu::ProducerAcquireOp, gpu::RingCopyOp>(user))
        fills.push_back(user);
  return whyNotApart(RoleSlice(fills, gpu::RoleKind::Producer), kernel,
                     [&](Operation *op) { return llvm::is_contained(fills, op); });
}

bool hasProducer(func::FuncOp kernel) {
  return kernel
      .walk([](scf::ForOp loop) {
        gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
        return plan && plan.getProducer() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace tile::passes
