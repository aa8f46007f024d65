#include "passes/pipelining/RingForm.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/LoopAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/instructions/TensorCopy.h"
#include "passes/pipelining/RingRuns.h"
#include "passes/pipelining/analysis/ClusterRank.h"
#include "passes/pipelining/analysis/RingProtocol.h"

using namespace mlir;

namespace tile::passes {

bool isByTma(Operation *op) {
  return isa<gpu::RingCopyOp>(op) && gpu::loadVariantOf(op) == gpu::LoadVariant::Tma;
}

SmallVector<gpu::ConsumerWaitOp> waitsOfLoops(gpu::RingAllocOp ring) {
  SmallVector<gpu::ConsumerWaitOp> gets;
  for (Operation *user : ring->getUsers())
    if (auto get = dyn_cast<gpu::ConsumerWaitOp>(user); get && isa<scf::ForOp>(user->getParentOp()))
      gets.push_back(get);
  return gets;
}

bool executesAtMostOncePer(Operation *op, gpu::RingAllocOp ring) {
  while (op->getBlock() != ring->getBlock())
    if (op = op->getParentOp(); !isa<scf::IfOp>(op))
      return false;
  return true;
}

// Rings of one stage are not filled ahead, whatever the plan of their loop says.
template <class Says> static bool doesPlanSay(gpu::RingAllocOp ring, Says says) {
  return ring.getRing().getType().getStages() > 1 &&
         llvm::any_of(ring->getUsers(), [&](Operation *user) {
           auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
           if (!loop || !isa<gpu::ProducerAcquireOp>(user))
             return false;
           gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
           return plan && says(plan);
         });
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

// Copies that are the same in all blocks of the cluster and can be cut into that many shares. None
// unless all blocks fill the ring equally often and in a single run: its mbarriers are then
// initialized once, when all blocks synchronize.
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
  if (runs.size() == 1 && executesAtMostOncePer(runs.front().first, ring))
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
  hasProducer = doesPlanSay(ring, [](gpu::LoopPlanAttr plan) { return plan.getProducer(); });
  bool isOrdered = doesPlanSay(
      ring, [](gpu::LoopPlanAttr plan) { return plan.getOrder() == gpu::Order::Warpgroups; });
  warpgroupsRunIndependently = isFilledByTma(ring) && (hasProducer || isOrdered);
  if (!warpgroupsRunIndependently || !hasProducer)
    return;
  isSharedByTeams = ir::teamsOf(ring) > 1;
  isPingPong = isSharedByTeams && doesPlanSay(ring, [](gpu::LoopPlanAttr plan) {
                 return plan.getOrder() == gpu::Order::PingPong;
               });
  if (ir::clusterOf(ring) > 1)
    shared = copiesOfCluster(ring);
}

} // namespace tile::passes
