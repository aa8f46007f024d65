// FlattenLoops: merges a loop with `tile.flatten` and the loop inside it. Loads that run ahead then
// cross from one iteration of the outer loop to the next: in a persistent kernel they are in flight
// while a tile is stored.
//
// A perfect nest becomes one loop over all pairs of indices. Otherwise operations before and after
// the inner loop execute in the first or the last step of a tile (an iteration of the outer loop);
// the indices are carried, which is cheaper than dividing one index by the trip count:
//
//   for i: { P(i); x = for j (a = init): B(i, j, a); T(i, x) }
//   becomes, if there are pairs of indices,
//   for each pair (i, j), P(i), a:  { a = j is the first ? init : a; x = B(i, j, a);
//                                     if j is the last: { T(i, x); the next i, P(i) } }
//
// and, if the inner loop has no iteration, the outer loop without it. The ordered barrier of
// PingPongLoops moves along: a team waits in the first step of a tile and arrives in the last one.
#include "passes/Passes.h"

#include "ir/annotations/LoopAnnotations.h"
#include "passes/tile/LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace tile::passes {
#define GEN_PASS_DEF_FLATTENLOOPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// Trip counts are multiplied: a loop whose bounds are out of order must count 0, not a negative
// number.
void keepCountsPositive(scf::ForOp loop, Operation *before) {
  OpBuilder builder(before);
  loop.setUpperBound(
      arith::MaxSIOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound()));
}

bool isOrdered(Operation *op) { return isa<gpu::OrderWaitOp, gpu::OrderArriveOp>(op); }

/// A nest with operations around its inner loop.
class NestFlattener {
public:
  explicit NestFlattener(const LoopNest &nest)
      : nest_(nest), outer_(nest.outer), inner_(nest.inner), b_(outer_), loc_(outer_.getLoc()) {}

  void flatten() {
    isOrdered_ = llvm::any_of(nest_.before, isOrdered);
    Value outerCount = tripCountOf(b_, outer_, /*all=*/true);
    innerCount_ = tripCountOf(b_, inner_);
    count_ = arith::MulIOp::create(b_, loc_, outerCount, innerCount_);
    // Both roles and both teams must enter, even if one has no tile: all take part in the ordered
    // barrier.
    Value any = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sgt, count_, number(0));
    if (isOrdered_)
      count_ = arith::MulIOp::create(b_, loc_, tripCountOf(b_, outer_), innerCount_);
    auto branch = scf::IfOp::create(b_, loc_, any, /*withElseRegion=*/true);
    b_.setInsertionPointToStart(branch.elseBlock());
    withoutInner(arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, innerCount_, number(0))
                     .getResult());
    if (isOrdered_)
      moveOrderInto(branch);
    b_.setInsertionPoint(branch.thenYield());
    asOne();
    if (isOrdered_)
      lastWait_->moveBefore(branch.thenYield());
    outer_.erase();
  }

private:
  // The first arrival and the last wait stand around the nest.
  void moveOrderInto(scf::IfOp branch) {
    Operation *first = outer_->getPrevNode();
    while (!isa<gpu::OrderBeginOp>(first))
      first = first->getPrevNode();
    lastWait_ = outer_->getNextNode();
    first->moveBefore(branch.thenYield());
  }

  scf::IfOp inBranch(Value condition, llvm::function_ref<void()> write) {
    auto branch = scf::IfOp::create(b_, loc_, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    write();
    return branch;
  }

  Value number(int64_t value) {
    return arith::ConstantOp::create(b_, loc_,
                                     b_.getIntegerAttr(outer_.getInductionVar().getType(), value));
  }

  void withoutInner(Value hasNone) {
    inBranch(hasNone, [&] {
      IRMapping at;
      b_.clone(*outer_, at);
      auto inner = cast<scf::ForOp>(at.lookup(inner_.getOperation()));
      auto body = inner->getBlock();
      inner->replaceAllUsesWith(inner.getInitArgs());
      inner.erase();
      for (Operation &op : llvm::make_early_inc_range(*body))
        if (isOrdered(&op)) // without dots nothing is ordered
          op.erase();
    });
  }

  // The loop carries the indices, what depends on the outer one, and what the inner loop carries.
  void asOne() {
    IRMapping first;
    first.map(outer_.getInductionVar(), outer_.getLowerBound());
    SmallVector<Value> carried = {outer_.getLowerBound()};
    llvm::append_range(carried, carriedAt(first));
    carried.push_back(inner_.getLowerBound());
    for (Value init : inner_.getInitArgs())
      carried.push_back(first.lookupOrDefault(init));
    auto one = scf::ForOp::create(b_, loc_, number(0), count_, number(1), carried);
    one->setDiscardableAttrs(inner_->getDiscardableAttrDictionary());
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(one.getBody());
    writeBody(one);
  }

  // Clones the operations before the inner loop for the outer index in `at`. Returns the carried
  // values.
  SmallVector<Value> carriedAt(IRMapping &at) {
    for (Operation *op : nest_.before)
      if (!isOrdered(op))
        b_.clone(*op, at);
    return llvm::map_to_vector(nest_.carried, [&](Value value) { return at.lookup(value); });
  }

  void writeBody(scf::ForOp one) {
    size_t numCarried = nest_.carried.size();
    Value outerIndex = one.getRegionIterArg(0), index = one.getRegionIterArg(1 + numCarried);
    IRMapping at;
    at.map(outer_.getInductionVar(), outerIndex);
    at.map(nest_.carried, one.getRegionIterArgs().slice(1, numCarried));
    at.map(inner_.getInductionVar(), index);
    Value isFirst =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, index, inner_.getLowerBound());
    if (isOrdered_)
      gpu::setTileStep(inBranch(isFirst, [&] { gpu::OrderWaitOp::create(b_, loc_); }),
                       gpu::TileStep::First);
    for (auto [argument, init, own] :
         llvm::zip_equal(inner_.getRegionIterArgs(), inner_.getInitArgs(),
                         one.getRegionIterArgs().drop_front(2 + numCarried)))
      at.map(argument,
             arith::SelectOp::create(b_, loc_, isFirst, at.lookupOrDefault(init), own).getResult());
    for (Operation &op : inner_.getBody()->without_terminator())
      b_.clone(op, at);
    for (auto [result, yielded] : llvm::zip_equal(inner_.getResults(), inner_.getYieldedValues()))
      at.map(result, at.lookupOrDefault(yielded));
    Value lastIndex =
        b_.createOrFold<arith::SubIOp>(loc_, inner_.getUpperBound(), inner_.getStep());
    Value isLast = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sge, index, lastIndex);
    writeAfter(isLast, at);
    SmallVector<Value> yielded = nextOuter(one, isLast);
    Value next = arith::AddIOp::create(b_, loc_, index, inner_.getStep());
    yielded.push_back(
        arith::SelectOp::create(b_, loc_, isLast, inner_.getLowerBound(), next).getResult());
    for (Value value : inner_.getResults())
      yielded.push_back(at.lookup(value));
    scf::YieldOp::create(b_, loc_, yielded);
  }

  void writeAfter(Value isLast, IRMapping &at) {
    if (isOrdered_)
      gpu::OrderArriveOp::create(b_, loc_, isLast, narrow(innerCount_));
    auto isWork = [](Operation *op) { return !isOrdered(op); };
    if (llvm::none_of(nest_.after, isWork))
      return;
    gpu::setTileStep(inBranch(isLast,
                              [&] {
                                for (Operation *op : llvm::make_filter_range(nest_.after, isWork))
                                  b_.clone(*op, at);
                              }),
                     gpu::TileStep::Last);
  }

  Value narrow(Value count) {
    Type i32 = b_.getI32Type();
    return count.getType() == i32 ? count
                                  : arith::TruncIOp::create(b_, loc_, i32, count).getResult();
  }

  // After the last pair the next outer index is out of range, so nothing may be computed for it.
  SmallVector<Value> nextOuter(scf::ForOp one, Value isLast) {
    Value lastPair = b_.createOrFold<arith::SubIOp>(loc_, count_, number(1));
    Value isBefore =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, one.getInductionVar(), lastPair);
    Value moves = arith::AndIOp::create(b_, loc_, isLast, isBefore);
    ValueRange now = one.getRegionIterArgs().take_front(1 + nest_.carried.size());
    auto branch = scf::IfOp::create(b_, loc_, TypeRange(now), moves, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    IRMapping at;
    Value next = arith::AddIOp::create(b_, loc_, now.front(), outer_.getStep());
    at.map(outer_.getInductionVar(), next);
    SmallVector<Value> yielded = {next};
    llvm::append_range(yielded, carriedAt(at));
    scf::YieldOp::create(b_, loc_, yielded);
    b_.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b_, loc_, now);
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  const LoopNest &nest_;
  scf::ForOp outer_, inner_;
  OpBuilder b_;
  Location loc_;
  bool isOrdered_ = false;        ///< Do teams alternate the tiles?
  Operation *lastWait_ = nullptr; ///< of an ordered nest
  Value innerCount_;              ///< steps per tile
  Value count_;                   ///< pairs of indices
};

struct FlattenLoops : passes::impl::FlattenLoopsBase<FlattenLoops> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops; // inner ones first
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->removeAttr(ir::kFlattenAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp outer : loops)
      flatten(outer);
  }

  static void flatten(scf::ForOp outer) {
    Refusal why;
    LoopNest nest = nestOf(outer, &why);
    if (nest.inner && !nest.isInnerAll()) {
      why = whyNotFlattenable(nest);
      if (!why)
        return NestFlattener(nest).flatten();
    }
    if (why) {
      outer.emitRemark("not flattened: ") << *why;
      return;
    }
    for (scf::ForOp loop : {outer, nest.inner})
      keepCountsPositive(loop, outer);
    SmallVector<scf::ForOp> loops = {outer, nest.inner};
    if (failed(coalesceLoops(loops)))
      outer.emitRemark("not flattened: the loops' form does not allow it");
  }
};

} // namespace

} // namespace tile::passes
