// ReorderDots: a product by wgmma begins behind the one before it if it does not depend on that,
// and is waited for where its result is taken. So both are under way together, and the warps
// compute in the meantime with the results of earlier ones. Neither crosses what changes the memory
// of a product under way, or ends the reading of operands there, as the release of a fill does. A
// product that reads what is put to shared memory beside it waits for all warps to meet: the next
// one that takes nothing of that begins before.
#include "passes/Passes.h"

#include "ir/annotations/AccessAnnotations.h"
#include "ir/instructions/Wgmma.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile::passes {
#define GEN_PASS_DEF_REORDERDOTS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

bool takes(Operation *op, Value tile) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::is_contained(inner->getOperands(), tile) ? WalkResult::interrupt()
                                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

// Do all products that read a ring stand behind this?
bool comesBeforeReaders(Operation *op, Value ring) {
  return llvm::all_of(ring.getUsers(), [&](Operation *user) {
    return !isa<gpu::ConsumerWaitOp>(user) || user->getBlock() != op->getBlock() ||
           op->isBeforeInBlock(user);
  });
}

// Does the memory that products read stay as it is while this happens?
bool keepsMemory(Operation *op) {
  if (isa<gpu::DotAsyncOp, gpu::DotWaitOp, gpu::ConsumerWaitOp, gpu::RingTilesOp>(op))
    return true;
  if (isa<gpu::ProducerAcquireOp, gpu::RingPutOp, gpu::ProducerCommitOp>(op))
    return comesBeforeReaders(op, op->getOperand(isa<gpu::RingPutOp>(op) ? 1 : 0));
  if (isa<ir::ViewStoreOp>(op) && gpu::variantOf(op) != gpu::VariantKind::Tma) // to global memory
    return true;
  return isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op);
}

// From its product, if nothing has been done about it yet.
gpu::DotAsyncOp dotBefore(gpu::DotWaitOp wait) {
  auto product = wait.getSums().getDefiningOp<gpu::DotAsyncOp>();
  bool isNext = product && product->getNextNode() == wait.getOperation();
  return isNext && isa<RankedTensorType>(wait.getResult().getType()) ? product : gpu::DotAsyncOp();
}

// A product, behind what gives its operands between it and a place before: operations without
// effects, which can move with it. Nothing if it depends on others there.
SmallVector<Operation *> sliceBehind(Operation *place, gpu::DotAsyncOp product) {
  SmallVector<Operation *> slice = {product};
  for (Operation *op = product->getPrevNode(); op != place; op = op->getPrevNode()) {
    bool givesOperand = llvm::any_of(
        slice, [&](Operation *user) { return llvm::is_contained(op->getUsers(), user); });
    if (!givesOperand)
      continue;
    if (op->getNumRegions() || !isPure(op) || isa<gpu::DotWaitOp>(op))
      return {};
    slice.push_back(op);
  }
  std::reverse(slice.begin(), slice.end());
  return slice;
}

void moveAfter(Operation *place, ArrayRef<Operation *> slice) {
  for (Operation *op : slice) {
    op->moveAfter(place);
    place = op;
  }
}

// Products keep their order; nothing is gained by beginning one earlier than behind another.
void beginEarly(gpu::DotAsyncOp product) {
  Operation *before = product->getPrevNode();
  while (before && !isa<gpu::DotAsyncOp>(before) && keepsMemory(before))
    before = before->getPrevNode();
  if (isa_and_present<gpu::DotAsyncOp>(before) && !llvm::is_contained(before->getUsers(), product))
    moveAfter(before, sliceBehind(before, product));
}

template <class Step> Step stepIn(Block *block, Value ring) {
  for (Operation *user : ring.getUsers())
    if (auto step = dyn_cast<Step>(user); step && step->getBlock() == block)
      return step;
  return {};
}

// The end of the put of an operand that is computed beside the product.
gpu::ProducerCommitOp putFor(gpu::DotAsyncOp product) {
  Block *block = product->getBlock();
  for (Value operand : product->getOperands())
    if (auto get = operand.getDefiningOp<gpu::ConsumerWaitOp>();
        get && stepIn<gpu::RingPutOp>(block, get.getRing()))
      return stepIn<gpu::ProducerCommitOp>(block, get.getRing());
  return {};
}

// The product behind a reader and what gives its operands.
gpu::DotAsyncOp dotAfter(gpu::DotAsyncOp reader) {
  Operation *next = reader->getNextNode();
  while (next && !isa<gpu::DotAsyncOp>(next) && isPure(next))
    next = next->getNextNode();
  return dyn_cast_or_null<gpu::DotAsyncOp>(next);
}

// All warps meet before they read what they have put to shared memory. The next product, if it
// takes nothing of that, begins before, so that there is one under way meanwhile.
void beginBeforeMeeting(gpu::DotAsyncOp reader) {
  gpu::ProducerCommitOp put = putFor(reader);
  gpu::DotAsyncOp other = put ? dotAfter(reader) : gpu::DotAsyncOp();
  if (!other || putFor(other) || !put->isBeforeInBlock(reader))
    return;
  for (Operation *op = put->getNextNode(); op != reader; op = op->getNextNode())
    if (!keepsMemory(op))
      return;
  moveAfter(put, sliceBehind(put, other));
}

void waitLate(gpu::DotWaitOp wait) {
  uint32_t begun = 0; // behind the wait's own product
  Operation *next = wait.getSums().getDefiningOp()->getNextNode();
  for (; !next->hasTrait<OpTrait::IsTerminator>(); next = next->getNextNode()) {
    if (next == wait)
      continue;
    if (takes(next, wait.getResult()) || !keepsMemory(next) || begun == ir::kMostWgmmaPending)
      break;
    begun += isa<gpu::DotAsyncOp>(next);
  }
  wait->moveBefore(next);
  wait.setPending(begun);
}

struct ReorderDots : passes::impl::ReorderDotsBase<ReorderDots> {
  void runOnOperation() final {
    SmallVector<gpu::DotAsyncOp> products;
    SmallVector<gpu::DotWaitOp> waits;
    getOperation().walk([&](gpu::DotWaitOp wait) {
      if (gpu::DotAsyncOp product = dotBefore(wait)) {
        waits.push_back(wait);
        products.push_back(product);
      }
    });
    for (gpu::DotAsyncOp product : products)
      beginEarly(product);
    for (gpu::DotAsyncOp product : products)
      beginBeforeMeeting(product);
    for (gpu::DotWaitOp wait : waits)
      waitLate(wait);
  }
};

} // namespace

} // namespace tile::passes
