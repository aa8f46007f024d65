#include "passes/pipelining/RingForm.h"

#include "ir/Annotations.h"
#include "ir/instructions/TensorCopy.h"
#include "passes/pipelining/PipelineState.h"
#include "passes/pipelining/RingRuns.h"
#include "passes/pipelining/analysis/ClusterRank.h"
#include "passes/pipelining/analysis/RingProtocol.h"

using namespace mlir;

namespace tile::passes {

bool isByTma(Operation *op) {
  return isa<gpu::RingCopyOp>(op) && gpu::variantOf(op) == gpu::VariantKind::Tma;
}

SmallVector<gpu::ConsumerWaitOp> getsOfLoops(gpu::RingAllocOp ring) {
  SmallVector<gpu::ConsumerWaitOp> gets;
  for (Operation *user : ring->getUsers())
    if (auto get = dyn_cast<gpu::ConsumerWaitOp>(user); get && isa<scf::ForOp>(user->getParentOp()))
      gets.push_back(get);
  return gets;
}

bool isOnceAtMost(Operation *op, gpu::RingAllocOp ring) {
  while (op->getBlock() != ring->getBlock())
    if (op = op->getParentOp(); !isa<scf::IfOp>(op))
      return false;
  return true;
}

static bool isFilledByProducer(gpu::RingAllocOp ring) {
  return ring.getRing().getType().getStages() > 1 &&
         llvm::any_of(ring->getUsers(), [](Operation *user) {
           auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
           gpu::ScheduleAttr schedule = loop && isa<gpu::ProducerAcquireOp>(user)
                                            ? gpu::scheduleOf(loop)
                                            : gpu::ScheduleAttr();
           return schedule && schedule.getSpecialized();
         });
}

static bool isFilledInTurns(Operation *user) {
  auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
  return loop && isa<gpu::ProducerAcquireOp>(user) &&
         !loop.getBody()->getOps<gpu::OrderWaitOp>().empty();
}

static bool areReadByThreads(gpu::RingAllocOp ring) {
  auto readsItself = [](Operation *reader) { return !isa<gpu::DotAsyncOp>(reader); };
  return llvm::any_of(ring->getUsers(), [&](Operation *user) {
    return isa<gpu::ConsumerWaitOp, gpu::RingTilesOp>(user) &&
           llvm::any_of(user->getUsers(), readsItself);
  });
}

static bool canBeCut(gpu::RingCopyOp copy, gpu::RingAllocOp ring) {
  gpu::SmemType tile = ring.getRing().getType().getTiles()[copy.getOperandIndex()];
  auto plan = gpu::planTensorCopy(copy, copy.getView(), copy.getShape(), tile);
  return plan && gpu::shareOf(*plan, tile, ir::clusterOf(ring));
}

// What all blocks of the cluster copy, and can cut in as many parts. None if they do not fill the ring at once and as often.
static llvm::DenseSet<Operation *> copiesOfCluster(gpu::RingAllocOp ring) {
  RankDependence ranks(ring->getParentOfType<func::FuncOp>());
  llvm::DenseSet<Operation *> shared;
  for (Operation *user : ring->getUsers()) {
    auto copy = dyn_cast<gpu::RingCopyOp>(user);
    bool isAsOften = ranks.isInAllBlocks(user) &&
                     !(copy && copy.getPredicate() && ranks.follows(copy.getPredicate()));
    if (!isAsOften)
      return {};
    bool isSame = copy && llvm::none_of(copy->getOperands(),
                                        [&](Value value) { return ranks.follows(value); });
    if (isSame && canBeCut(copy, ring))
      shared.insert(copy);
  }
  SmallVector<RingRun> runs = runsOf(ring);
  if (runs.size() == 1 && isOnceAtMost(runs.front().first, ring))
    return shared;
  return {};
}

RingForm::RingForm(gpu::RingAllocOp ring) {
  auto any = [&](auto is) { return llvm::any_of(ring->getUsers(), is); };
  hasThreadCopies =
      any([](Operation *user) { return isa<gpu::RingCopyOp>(user) && !isByTma(user); });
  hasTmaCopies = any(isByTma);
  hasPuts = any([](Operation *user) { return isa<gpu::RingPutOp>(user); });
  isReadByWgmma = any([](Operation *user) {
    return llvm::any_of(user->getUsers(),
                        [](Operation *reader) { return isa<gpu::DotAsyncOp>(reader); });
  });
  isReadByThreads = areReadByThreads(ring);
  hasProducer = isFilledByProducer(ring);
  warpgroupsRunIndependently = isFilledByTma(ring) && (hasProducer || any(isFilledInTurns));
  if (!warpgroupsRunIndependently || !hasProducer)
    return;
  isOfBlock = ir::teamsOf(ring) > 1;
  isInTurn = isOfBlock && llvm::any_of(getsOfLoops(ring), [](gpu::ConsumerWaitOp get) {
               return passesInTurn(cast<scf::ForOp>(get->getParentOp()));
             });
  if (ir::clusterOf(ring) > 1)
    shared = copiesOfCluster(ring);
}

} // namespace tile::passes
