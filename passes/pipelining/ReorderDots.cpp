// ReorderDots: issues a wgmma right after the one before it, if it does not depend on that, and
// waits for each where its result is used. Both are then in flight together, and the warps compute
// with earlier results meanwhile.
//
// Neither the issue nor the wait moves across an operation that writes an in-flight dot's operands
// or releases their stage. A dot whose operand is put to shared memory next to it must wait until
// all warps have synchronized: the next dot is issued before that if it reads nothing that is put.
#include "passes/Passes.h"

#include "ir/annotations/VariantAnnotations.h"
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

// Is the ring read only after `op`? Then refilling it there changes nothing that a dot in flight
// reads.
bool comesBeforeReaders(Operation *op, Value ring) {
  return llvm::all_of(ring.getUsers(), [&](Operation *user) {
    return !isa<gpu::ConsumerWaitOp>(user) || user->getBlock() != op->getBlock() ||
           op->isBeforeInBlock(user);
  });
}

// May the operation execute while dots are in flight, since it writes nothing that they read?
bool keepsMemory(Operation *op) {
  if (isa<gpu::DotAsyncOp, gpu::DotWaitOp, gpu::ConsumerWaitOp, gpu::RingTilesOp>(op))
    return true;
  if (isa<gpu::ProducerAcquireOp, gpu::RingPutOp, gpu::ProducerCommitOp>(op))
    return comesBeforeReaders(op, op->getOperand(isa<gpu::RingPutOp>(op) ? 1 : 0));
  if (isa<ir::ViewStoreOp>(op) &&
      gpu::storeVariantOf(op) != gpu::StoreVariant::Tma) // to global memory
    return true;
  return isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op);
}

// Only dots that are still followed by their own wait: the others were placed by PipelineLoops or
// SkewLoops.
gpu::DotAsyncOp dotBefore(gpu::DotWaitOp wait) {
  auto product = wait.getSums().getDefiningOp<gpu::DotAsyncOp>();
  bool isNext = product && product->getNextNode() == wait.getOperation();
  return isNext && isa<RankedTensorType>(wait.getResult().getType()) ? product : gpu::DotAsyncOp();
}

// The dot and the pure operations after `place` that its operands need, in program order; empty if
// the dot cannot move there.
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

// Dots keep their order: issuing one before another gains nothing.
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

gpu::ProducerCommitOp putFor(gpu::DotAsyncOp product) {
  Block *block = product->getBlock();
  for (Value operand : product->getOperands())
    if (auto get = operand.getDefiningOp<gpu::ConsumerWaitOp>();
        get && stepIn<gpu::RingPutOp>(block, get.getRing()))
      return stepIn<gpu::ProducerCommitOp>(block, get.getRing());
  return {};
}

gpu::DotAsyncOp dotAfter(gpu::DotAsyncOp reader) {
  Operation *next = reader->getNextNode();
  while (next && !isa<gpu::DotAsyncOp>(next) && isPure(next))
    next = next->getNextNode();
  return dyn_cast_or_null<gpu::DotAsyncOp>(next);
}

// Keeps a dot in flight while all warps synchronize before they read what they have put.
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
  uint32_t begun = 0; // after the wait's own dot
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
