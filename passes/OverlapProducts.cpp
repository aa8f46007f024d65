// OverlapProducts: a product by wgmma begins behind the one before it if it does not depend on that, and is waited for where
// its result is taken. So both are under way together, and the warps compute in the meantime with the results of earlier
// ones. Neither crosses what changes shared memory, or ends the reading of operands there: the release of a fill, a store.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile::passes {
#define GEN_PASS_DEF_OVERLAPPRODUCTS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// The most products that a wait can leave under way.
constexpr uint32_t kMostPending = 7;

bool takes(Operation *op, Value tile) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::is_contained(inner->getOperands(), tile) ? WalkResult::interrupt()
                                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

// Does the memory that products read stay as it is while this happens?
bool keepsMemory(Operation *op) {
  if (isa<gpu::DotAsyncOp, gpu::DotWaitOp, gpu::RingGetOp, gpu::RingTilesOp>(op))
    return true;
  return isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op);
}

// From its product, if nothing has been done about it yet.
gpu::DotAsyncOp productBefore(gpu::DotWaitOp wait) {
  auto product = wait.getSums().getDefiningOp<gpu::DotAsyncOp>();
  bool isNext = product && product->getNextNode() == wait.getOperation();
  return isNext && isa<RankedTensorType>(wait.getResult().getType()) ? product : gpu::DotAsyncOp();
}

// Products keep their order; nothing is gained by beginning one earlier than behind another.
void beginEarly(gpu::DotAsyncOp product) {
  Operation *before = product->getPrevNode();
  auto givesOperand = [&](Operation *op) { return llvm::is_contained(op->getUsers(), product); };
  while (before && !isa<gpu::DotAsyncOp>(before) && keepsMemory(before) && !givesOperand(before))
    before = before->getPrevNode();
  if (isa_and_present<gpu::DotAsyncOp>(before) && !givesOperand(before))
    product->moveAfter(before);
}

void waitLate(gpu::DotWaitOp wait) {
  uint32_t begun = 0; // behind the wait's own product
  Operation *next = wait.getSums().getDefiningOp()->getNextNode();
  for (; !next->hasTrait<OpTrait::IsTerminator>(); next = next->getNextNode()) {
    if (next == wait)
      continue;
    if (takes(next, wait.getResult()) || !keepsMemory(next) || begun == kMostPending)
      break;
    begun += isa<gpu::DotAsyncOp>(next);
  }
  wait->moveBefore(next);
  wait.setPending(begun);
}

struct OverlapProducts : passes::impl::OverlapProductsBase<OverlapProducts> {
  void runOnOperation() final {
    SmallVector<gpu::DotAsyncOp> products;
    SmallVector<gpu::DotWaitOp> waits;
    getOperation().walk([&](gpu::DotWaitOp wait) {
      if (gpu::DotAsyncOp product = productBefore(wait)) {
        waits.push_back(wait);
        products.push_back(product);
      }
    });
    for (gpu::DotAsyncOp product : products)
      beginEarly(product);
    for (gpu::DotWaitOp wait : waits)
      waitLate(wait);
  }
};

} // namespace

} // namespace tile::passes
