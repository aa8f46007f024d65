#include "passes/pipelining/RingRuns.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tile::passes {

namespace {

class RunCollector {
public:
  explicit RunCollector(gpu::RingAllocOp ring) : ring_(ring.getRing()) {
    collect(ring->getBlock());
  }

  SmallVector<RingRun> take() { return std::move(runs_); }

private:
  bool isBegin(Operation *op) const {
    auto acquire = dyn_cast<gpu::ProducerAcquireOp>(op);
    return acquire && acquire.getRing() == ring_ && matchPattern(acquire.getFill(), m_Zero());
  }

  bool uses(Operation *op) const { return llvm::is_contained(op->getOperands(), ring_); }

  template <class Is> static bool holds(Operation *op, Is is) {
    return op
        ->walk([&](Operation *inner) {
          return inner != op && is(inner) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  bool acquiresEachIteration(Operation *op) const {
    auto loop = dyn_cast<scf::ForOp>(op);
    return loop && llvm::any_of(loop.getBody()->getOps<gpu::ProducerAcquireOp>(),
                                [&](auto acquire) { return acquire.getRing() == ring_; });
  }

  void collect(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        collect(&block);
  }

  void collect(Block *block) {
    bool isOpen = false;
    for (Operation &op : *block) {
      bool isUser = uses(&op), holdsUsers = holds(&op, [&](Operation *in) { return uses(in); });
      bool holdsBegin = holds(&op, [&](Operation *in) { return isBegin(in); });
      if (!isUser && !holdsUsers)
        continue;
      bool hasRunsOfItsOwn = holdsBegin || (!isOpen && !isUser && !acquiresEachIteration(&op));
      if (hasRunsOfItsOwn) {
        isOpen = false;
        collect(&op);
        continue;
      }
      if (!isOpen || isBegin(&op))
        runs_.push_back({&op, &op});
      runs_.back().last = &op;
      isOpen = true;
    }
  }

  Value ring_;
  SmallVector<RingRun> runs_;
};

} // namespace

SmallVector<RingRun> runsOf(gpu::RingAllocOp ring) { return RunCollector(ring).take(); }

gpu::BarrierOp initBarrierBefore(RingRun run) {
  auto isFill = [](Operation *op) {
    auto elect = dyn_cast<gpu::ElectOp>(op);
    return elect && !elect.getBody().getOps<gpu::TensorCopyOp>().empty();
  };
  Operation *op = run.first->getPrevNode();
  while (op && (isFill(op) || isMemoryEffectFree(op)))
    op = op->getPrevNode();
  auto barrier = dyn_cast_or_null<gpu::BarrierOp>(op);
  bool isMeeting = barrier && isa_and_present<gpu::ProxyFenceOp>(barrier->getPrevNode());
  return isMeeting ? barrier : gpu::BarrierOp();
}

llvm::DenseSet<Operation *> awaitedReleases(gpu::RingAllocOp ring) {
  llvm::DenseSet<Operation *> awaited;
  for (Operation *release : ring->getUsers()) {
    auto isLaterFill = [&](Operation *user) {
      Operation *place = release->getBlock()->findAncestorOpInBlock(*user);
      return isa<gpu::ProducerAcquireOp>(user) && place && release->isBeforeInBlock(place);
    };
    if (isa<gpu::ConsumerReleaseOp>(release) &&
        (isa<scf::ForOp>(release->getParentOp()) || llvm::any_of(ring->getUsers(), isLaterFill)))
      awaited.insert(release);
  }
  return awaited;
}

} // namespace tile::passes
