// RotateLoops: products of a loop that depend on what it loads alone run an iteration ahead of the rest. With A for them
// and what they follow from, and B for the rest:
//
//   for i in l .. u: A(i) B(i)    becomes    if l < u: A(l); for i in l .. u-1: { A(i+1) B(i) }; B(u-1)
//
// so that no iteration has a condition. The products' results cross to the next iteration as variables of the loop; what
// else of A the rest needs (indices, tiles in shared memory) it finds for itself. A fill of the ring is then got an
// iteration before it is released: of S slots the loads run S - 2 iterations ahead of the products. The last B fills
// nothing: no iteration follows.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "passes/analysis/RingProtocol.h"
#include "passes/analysis/Rotation.h"
#include "passes/analysis/RunAhead.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {
#define GEN_PASS_DEF_ROTATELOOPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

class LoopRotator {
public:
  LoopRotator(scf::ForOp loop, Rotation rotation)
      : loop_(loop), ring_(ringOf(loop).getRing()), rotation_(std::move(rotation)), b_(loop),
        loc_(loop.getLoc()) {}

  void rotate() {
    Value hasIteration = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt,
                                               loop_.getLowerBound(), loop_.getUpperBound());
    bool hasResults = loop_.getNumResults() != 0;
    auto branch =
        scf::IfOp::create(b_, loc_, loop_.getResultTypes(), hasIteration, /*withElse=*/hasResults);
    b_.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> results = last(steady(first()));
    if (hasResults) {
      scf::YieldOp::create(b_, loc_, results);
      b_.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b_, loc_, loop_.getInitArgs());
    }
    loop_->replaceAllUsesWith(branch.getResults());
    loop_.erase();
  }

private:
  // A(l); the variables of the loop as it begins: its own, the products' results, the index.
  SmallVector<Value> first() {
    IRMapping at;
    at.map(loop_.getInductionVar(), loop_.getLowerBound());
    for (Operation *op : rotation_.head)
      b_.clone(*op, at);
    SmallVector<Value> variables(loop_.getInitArgs());
    for (Value result : rotation_.results)
      variables.push_back(at.lookup(result));
    variables.push_back(loop_.getLowerBound());
    return variables;
  }

  // { A(i+1) B(i) } for all iterations but the last; the variables as it ends.
  SmallVector<Value> steady(ValueRange initial) {
    Value bound = b_.createOrFold<arith::SubIOp>(loc_, loop_.getUpperBound(), loop_.getStep());
    auto steady =
        scf::ForOp::create(b_, loc_, loop_.getLowerBound(), bound, loop_.getStep(), initial);
    steady->setDiscardableAttrs(loop_->getDiscardableAttrDictionary());
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(steady.getBody());
    IRMapping now, next;
    mapVariables(now, steady.getInductionVar(), steady.getRegionIterArgs());
    Value following = arith::AddIOp::create(b_, loc_, steady.getInductionVar(), loop_.getStep());
    next.map(loop_.getInductionVar(), following);
    for (Operation &op : loop_.getBody()->without_terminator()) {
      if (rotation_.head.contains(&op))
        b_.clone(op, next);
      cloneRest(op, now);
    }
    SmallVector<Value> yielded = yieldedOf(now);
    for (Value result : rotation_.results)
      yielded.push_back(next.lookup(result));
    yielded.push_back(following);
    scf::YieldOp::create(b_, loc_, yielded);
    return llvm::to_vector_of<Value>(steady.getResults());
  }

  // B of the last iteration, which nothing follows; the results of the loop.
  SmallVector<Value> last(ValueRange variables) {
    IRMapping at;
    mapVariables(at, variables.back(), variables);
    for (Operation &op : loop_.getBody()->without_terminator())
      if (!fills(&op))
        if (Operation *copy = cloneRest(op, at))
          eraseFills(copy);
    return yieldedOf(at);
  }

  void mapVariables(IRMapping &at, Value index, ValueRange variables) {
    at.map(loop_.getInductionVar(), index);
    at.map(loop_.getRegionIterArgs(), variables.take_front(loop_.getNumRegionIterArgs()));
    at.map(rotation_.results,
           variables.slice(loop_.getNumRegionIterArgs(), rotation_.results.size()));
  }

  SmallVector<Value> yieldedOf(const IRMapping &at) {
    return llvm::map_to_vector(loop_.getYieldedValues(),
                               [&](Value value) { return at.lookupOrDefault(value); });
  }

  // An operation of B, or of A what B needs of it; null if it is neither. The fill has been got.
  Operation *cloneRest(Operation &op, IRMapping &at) {
    if (rotation_.head.contains(&op) && !rotation_.shared.contains(&op))
      return nullptr;
    auto get = dyn_cast<gpu::RingGetOp>(op);
    if (!get || get.getRing() != ring_)
      return b_.clone(op, at);
    auto tiles = gpu::RingTilesOp::create(b_, get.getLoc(), get.getTiles().getTypes(), ring_,
                                          at.lookupOrDefault(get.getFill()));
    at.map(get.getTiles(), tiles.getTiles());
    return tiles;
  }

  bool fills(Operation *op) {
    return llvm::is_contained(op->getOperands(), ring_) &&
           isa<gpu::RingAcquireOp, gpu::RingCopyOp, gpu::RingPutOp, gpu::RingCommitOp>(op);
  }

  // Those in a branch, which is not taken any more.
  void eraseFills(Operation *op) {
    SmallVector<Operation *> found;
    op->walk([&](Operation *inner) {
      if (fills(inner))
        found.push_back(inner);
    });
    for (Operation *fill : found)
      fill->erase();
  }

  scf::ForOp loop_;
  Value ring_;
  Rotation rotation_;
  OpBuilder b_;
  Location loc_;
};

bool isFilledAhead(scf::ForOp loop) {
  gpu::RingAcquireOp ring = ringOf(loop);
  return ring && ring.getRing().getType().getSlots() > 2;
}

struct RotateLoops : passes::impl::RotateLoopsBase<RotateLoops> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      gpu::ScheduleAttr schedule = gpu::scheduleOf(loop);
      if (schedule && schedule.getRotated() && isFilledAhead(loop))
        loops.push_back(loop);
    });
    if (loops.empty())
      return;
    for (scf::ForOp loop : loops) {
      std::string why;
      std::optional<Rotation> rotation = rotationOf(loop, &why);
      if (!rotation) {
        loop.emitError("cannot be rotated as it is scheduled to be: ") << why;
        return signalPassFailure();
      }
      LoopRotator(loop, std::move(*rotation)).rotate();
    }
    if (failed(verifyRings(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
