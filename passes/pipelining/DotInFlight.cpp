#include "passes/pipelining/DotInFlight.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tile::passes {

namespace {

struct CarriedDot {
  gpu::DotAsyncOp dot;
  gpu::DotWaitOp wait;
  BlockArgument sums;
  gpu::ConsumerReleaseOp release; ///< of the fill that it reads
};

// Do the operand's registers or bytes stay unchanged until the next iteration's dot has been
// issued? A tile in the ring does, and a tile from before the loop. A variable of the loop does
// not: its next value goes to the registers that the dot in flight reads, and ptxas would wait for
// every dot.
bool outlivesIteration(Value operand, scf::ForOp loop, Value ring) {
  if (llvm::is_contained(loop.getBody()->getArguments(), operand))
    return false;
  Operation *op = operand.getDefiningOp();
  if (!op || !loop->isAncestor(op))
    return true;
  auto get = dyn_cast<gpu::ConsumerWaitOp>(op);
  return get && get.getRing() == ring;
}

// Other uses may stand in branches only, each of which gets a wait of its own: a wait in the body
// would end the dot in flight in every iteration.
bool areOthersInBranches(gpu::DotWaitOp wait, OpOperand *yielded) {
  return llvm::all_of(wait.getResult().getUses(), [&](OpOperand &use) {
    Operation *op = wait->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return &use == yielded || (op != use.getOwner() && isa<scf::IfOp>(op));
  });
}

std::optional<CarriedDot> findDot(scf::ForOp loop, Value ring) {
  SmallVector<gpu::DotAsyncOp> dots;
  loop.walk([&](gpu::DotAsyncOp dot) { dots.push_back(dot); });
  if (dots.size() != 1 || dots.front()->getBlock() != loop.getBody())
    return std::nullopt;
  CarriedDot found{dots.front(), {}, dyn_cast<BlockArgument>(dots.front().getAcc()), {}};
  if (!found.sums || found.sums.getOwner() != loop.getBody() || !found.sums.hasOneUse() ||
      !found.dot.getResult().hasOneUse())
    return std::nullopt;
  found.wait = dyn_cast<gpu::DotWaitOp>(*found.dot.getResult().user_begin());
  OpOperand *yielded = loop.getTiedLoopYieldedValue(found.sums);
  if (!found.wait || yielded->get() != found.wait.getResult() ||
      !areOthersInBranches(found.wait, yielded) || !isa<RankedTensorType>(found.sums.getType()))
    return std::nullopt;
  for (Value operand : found.dot->getOperands().take_front(2))
    if (!outlivesIteration(operand, loop, ring))
      return std::nullopt;
  for (auto release : loop.getBody()->getOps<gpu::ConsumerReleaseOp>())
    if (release.getRing() == ring)
      found.release = release;
  return found.release ? std::optional(found) : std::nullopt;
}

void waitInBranches(gpu::DotWaitOp wait, Value inFlight) {
  llvm::SmallSetVector<Region *, 2> regions;
  for (OpOperand &use : wait.getResult().getUses())
    if (Operation *op = wait->getBlock()->findAncestorOpInBlock(*use.getOwner());
        op != use.getOwner())
      for (Region &region : op->getRegions())
        if (region.isAncestor(use.getOwner()->getParentRegion()))
          regions.insert(&region);
  for (Region *region : regions) {
    OpBuilder b = OpBuilder::atBlockBegin(&region->front());
    auto here = gpu::DotWaitOp::create(b, wait.getLoc(), wait.getResult().getType(), inFlight, 0);
    wait.getResult().replaceUsesWithIf(here.getResult(), [&](OpOperand &use) {
      return region->isAncestor(use.getOwner()->getParentRegion());
    });
  }
}

void carryInFlight(scf::ForOp loop, CarriedDot &found) {
  OpBuilder b(loop);
  Type tile = found.sums.getType();
  Location loc = found.wait.getLoc();
  OpOperand *init = loop.getTiedLoopInit(found.sums);
  init->set(gpu::DotBeginOp::create(b, loc, init->get()));
  found.sums.setType(init->get().getType());
  b.setInsertionPoint(found.wait);
  auto wait = gpu::DotWaitOp::create(b, loc, init->get().getType(), found.dot.getResult(), 1);
  waitInBranches(found.wait, wait.getResult());
  found.wait.getResult().replaceAllUsesWith(wait.getResult());
  found.wait.erase();
  found.wait = wait;
  Value result = loop.getTiedLoopResult(found.sums);
  result.setType(init->get().getType());
  b.setInsertionPointAfter(loop); // even without uses: no dot may outlive its operands
  auto last = gpu::DotWaitOp::create(b, loc, tile, result, 0);
  result.replaceAllUsesExcept(last.getResult(), last);
}

// Iteration 0 has no earlier fill to release: it releases "fill -1".
gpu::ConsumerReleaseOp releaseLater(scf::ForOp &loop, CarriedDot &found) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  Value ring = found.release.getRing(), fill = found.release.getFill();
  Value none = arith::ConstantIntOp::create(rewriter, loc, -1, 32);
  gpu::ConsumerReleaseOp early = found.release, later;
  Operation *wait = found.wait;
  auto next = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> variables) -> SmallVector<Value> {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(wait);
    later = gpu::ConsumerReleaseOp::create(b, loc, ring, variables.front());
    return {fill};
  };
  auto replaced = loop.replaceWithAdditionalYields(rewriter, none,
                                                   /*replaceInitOperandUsesInLoop=*/false, next);
  loop = cast<scf::ForOp>((*replaced).getOperation());
  early.erase();
  Operation *afterLoop = loop->getNextNode(); // the wait for the last dot
  rewriter.setInsertionPointAfter(afterLoop);
  gpu::ConsumerReleaseOp::create(rewriter, loc, ring, loop.getResults().back());
  return later;
}

} // namespace

bool canKeepDotInFlight(scf::ForOp loop, Value ring) { return findDot(loop, ring).has_value(); }

Operation *keepDotInFlight(scf::ForOp &loop, Value ring) {
  std::optional<CarriedDot> found = findDot(loop, ring);
  if (!found)
    return nullptr;
  carryInFlight(loop, *found);
  return releaseLater(loop, *found);
}

} // namespace tile::passes
