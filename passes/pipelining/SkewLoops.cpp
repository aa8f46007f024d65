// SkewLoops: dots that take what an iteration computes lag one iteration after those that depend on
// loads alone. With B for the lagging part (those dots and what follows from them) and A for the
// leading part (the rest):
//
//   for i in l .. u: A(i) B(i)
//   becomes
//   if l < u: A(l); for i in l .. u-1: { A(i+1) B(i) }; B(u-1)
//
// No iteration needs a condition, and the dots of A(i+1) and B(i) are independent: those of A are
// issued first, then those of B, which stay in flight while A computes with the results of its own
// (in attention: the softmax). What A computes for B or for the next iteration crosses the back
// edge as loop variables; each part finds indices and tiles in shared memory for itself. The last B
// fills nothing: no iteration follows.
//
// The part that reads a ring also fills and releases it, so that a fill is released as soon as its
// dots are done: loads run S - 1 iterations ahead. If both parts read a ring, A waits for its
// fills, B fills and releases it: loads run S - 2 iterations ahead of A.
#include "passes/Passes.h"

#include "ir/annotations/LoopAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/instructions/Wgmma.h"
#include "passes/analysis/RunAhead.h"
#include "passes/pipelining/PartsWriter.h"
#include "passes/pipelining/analysis/LoopPlans.h"
#include "passes/pipelining/analysis/RingProtocol.h"
#include "passes/pipelining/analysis/RingReaders.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {
#define GEN_PASS_DEF_SKEWLOOPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

class LoopSkewer {
public:
  LoopSkewer(scf::ForOp loop, LoopSkew skew)
      : loop_(loop), skew_(std::move(skew)),
        isOrdered_(gpu::loopPlanOf(loop).getOrder() == gpu::Order::Warpgroups), b_(loop),
        loc_(loop.getLoc()) {
    for (gpu::ProducerAcquireOp acquire : ringsOf(loop))
      rings_.push_back(acquire.getRing());
  }

  void skew() {
    Value hasIteration = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt,
                                               loop_.getLowerBound(), loop_.getUpperBound());
    bool hasResults = loop_.getNumResults() != 0;
    auto branch =
        scf::IfOp::create(b_, loc_, loop_.getResultTypes(), hasIteration, /*withElse=*/hasResults);
    b_.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> initial = first();
    if (isOrdered_)
      gpu::OrderBeginOp::create(b_, loc_);
    SmallVector<Value> carried = steady(initial);
    if (isOrdered_)
      gpu::OrderEndOp::create(b_, loc_);
    SmallVector<Value> results = last(carried);
    if (hasResults) {
      scf::YieldOp::create(b_, loc_, results);
      b_.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b_, loc_, loop_.getInitArgs());
    }
    loop_->replaceAllUsesWith(branch.getResults());
    loop_.erase();
  }

private:
  // A(l). Returns the initial values of the loop's variables: the crossing values, the variables of
  // the lagging part, the index.
  SmallVector<Value> first() {
    PartsWriter parts(b_, loop_, skew_, rings_);
    parts.next.map(loop_.getInductionVar(), loop_.getLowerBound());
    parts.next.map(loop_.getRegionIterArgs(), loop_.getInitArgs());
    for (Operation *op : skew_.leading)
      parts.lead(op);
    SmallVector<Value> carried;
    for (Value value : skew_.crossing)
      carried.push_back(parts.next.lookup(value));
    for (BlockArgument variable : skew_.variables)
      carried.push_back(loop_.getTiedLoopInit(variable)->get());
    carried.push_back(loop_.getLowerBound());
    return carried;
  }

  SmallVector<Value> steady(ValueRange initial) {
    Value bound = b_.createOrFold<arith::SubIOp>(loc_, loop_.getUpperBound(), loop_.getStep());
    auto steady =
        scf::ForOp::create(b_, loc_, loop_.getLowerBound(), bound, loop_.getStep(), initial);
    steady->setDiscardableAttrs(loop_->getDiscardableAttrDictionary());
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(steady.getBody());
    PartsWriter parts(b_, loop_, skew_, rings_);
    mapCarried(parts.now, steady.getInductionVar(), steady.getRegionIterArgs());
    Value following = arith::AddIOp::create(b_, loc_, steady.getInductionVar(), loop_.getStep());
    parts.next.map(loop_.getInductionVar(), following);
    interleave(parts);
    SmallVector<Value> carried;
    for (Value value : skew_.crossing)
      carried.push_back(parts.next.lookup(value));
    for (BlockArgument variable : skew_.variables)
      carried.push_back(parts.yieldedOf(variable));
    carried.push_back(following);
    scf::YieldOp::create(b_, loc_, carried);
    return llvm::to_vector_of<Value>(steady.getResults());
  }

  // Issues the dots of both parts as early as possible. A waits for its own dots on demand, and for
  // those of B before it replaces what they read. Puts and commits come last.
  void interleave(PartsWriter &parts) {
    bool hasBegun = false;
    for (Operation *op : skew_.leading) {
      if (isa<gpu::DotWaitOp>(op) || (isFill(op) && !hasBegun))
        continue; // on demand, or after the dots
      if (isHandedOver(op))
        finishLate(parts);
      if (!hasBegun && gpu::isDot(op)) {
        hasBegun = true;
        for (Value operand : op->getOperands())
          if (Operation *source = operand.getDefiningOp(); skew_.leading.contains(source))
            parts.lead(source); // consumer_wait comes before the ordered barrier
        if (isOrdered_)
          gpu::OrderWaitOp::create(b_, loc_);
      }
      parts.lead(op);
      if (op == skew_.lastLeadingDot)
        beginLagging(parts);
    }
    finishLate(parts);
    for (Operation *op : skew_.leading)
      parts.lead(op);
    for (Operation *op : skew_.lagging)
      parts.lag(op);
  }

  // Does a lagging dot read the registers in which this value crosses the back edge? Then it must
  // be done before the value is replaced.
  bool isHandedOver(Operation *op) const {
    return llvm::any_of(op->getResults(), [&](Value result) {
      return skew_.crossing.contains(result) &&
             llvm::any_of(result.getUsers(), [&](Operation *user) {
               return gpu::isDot(user) && skew_.late.contains(user);
             });
    });
  }

  // Issues copies of a fill, or loads what is put: not the put and the commit, which come later.
  bool isFill(Operation *op) const {
    return !isa<gpu::RingPutOp, gpu::ProducerCommitOp>(op) &&
           llvm::any_of(rings_, [&](Value ring) { return fillsRing(op, ring); });
  }

  void beginLagging(PartsWriter &parts) {
    for (Operation *op : skew_.late)
      if (gpu::isDot(op) && !followsFromLate(op))
        parts.lag(op);
    if (isOrdered_)
      gpu::OrderArriveOp::create(b_, loc_);
    for (Operation *op : skew_.leading)
      if (isFill(op))
        parts.lead(op);
    for (Operation *op : skew_.lagging)
      if (isFill(op))
        parts.lag(op);
      else if (isa<scf::IfOp>(op) && !skew_.late.contains(op)) // loads what is put
        parts.lag(op);
  }

  bool followsFromLate(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return skew_.late.contains(operand.getDefiningOp());
    });
  }

  void finishLate(PartsWriter &parts) {
    for (Operation *op : skew_.late)
      parts.lag(op);
    for (Operation *op : skew_.lagging)
      if (isa<gpu::ConsumerReleaseOp>(op) && !isOnOtherRing(op))
        parts.lag(op);
  }

  SmallVector<Value> last(ValueRange carried) {
    PartsWriter parts(b_, loop_, skew_, rings_);
    mapCarried(parts.now, carried.back(), carried);
    for (Operation *op : skew_.lagging)
      if (skew_.late.contains(op) || isOnOtherRing(op) || isa<gpu::ConsumerReleaseOp>(op))
        parts.lag(op);
    SmallVector<Value> results;
    for (OpResult result : loop_.getResults()) {
      BlockArgument variable = loop_.getTiedLoopRegionIterArg(result);
      results.push_back(result.use_empty() ? loop_.getTiedLoopInit(variable)->get()
                                           : parts.yieldedOf(variable));
    }
    return results;
  }

  bool isOnOtherRing(Operation *op) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return isa<gpu::RingType>(operand.getType()) && !llvm::is_contained(rings_, operand);
    });
  }

  void mapCarried(IRMapping &at, Value index, ValueRange carried) {
    at.map(loop_.getInductionVar(), index);
    size_t number = 0;
    for (Value value : skew_.crossing)
      at.map(value, carried[number++]);
    for (BlockArgument variable : skew_.variables)
      at.map(variable, carried[number++]);
  }

  scf::ForOp loop_;
  SmallVector<Value> rings_; ///< that the iterations fill
  LoopSkew skew_;
  bool isOrdered_; ///< by the ordered barrier of warpgroups
  OpBuilder b_;
  Location loc_;
};

// Has PipelineLoops given each ring the stages that the skew needs? Not if that pass is disabled.
bool isFilledAhead(scf::ForOp loop, const LoopSkew &skew) {
  SmallVector<gpu::ProducerAcquireOp> rings = ringsOf(loop);
  return !rings.empty() && llvm::all_of(rings, [&](gpu::ProducerAcquireOp acquire) {
    gpu::ConsumerWaitOp get = getOf(acquire.getRing(), loop);
    TilesOfReaders readers{skew.leading.contains(get), skew.lagging.contains(get), {}};
    return acquire.getRing().getType().getStages() >= readers.fewestStages();
  });
}

struct SkewLoops : passes::impl::SkewLoopsBase<SkewLoops> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
      if (plan && plan.getSkewed())
        loops.push_back(loop);
    });
    if (loops.empty())
      return;
    for (scf::ForOp loop : loops) {
      Refusal why;
      std::optional<LoopSkew> skew = skewOf(loop, &why);
      if (!skew) {
        loop.emitError("cannot be skewed as it is planned: ") << *why;
        return signalPassFailure();
      }
      if (isFilledAhead(loop, *skew))
        LoopSkewer(loop, std::move(*skew)).skew();
    }
    if (failed(verifyRings(getOperation())) || failed(verifyPlans(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
