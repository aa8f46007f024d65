// FlattenLoops: `tile.flatten` on a loop makes it and the loop inside it one. Loads that run ahead of the one loop run on
// where one iteration of the outer loop ends and the next begins: of a persistent program, while a tile is stored.
//
// A nest of nothing else is one loop over all pairs of indices. What stands beside the inner loop happens where it begins or
// ends, the indices being carried, since to divide one index by the count would cost more:
//
//   for i: { P(i); x = for j (a = init): B(i, j, a); T(i, x) }   becomes, if there are pairs of indices,
//
//   for each pair (i, j), P(i), a:  { a = j is the first ? init : a; x = B(i, j, a);
//                                     if j is the last: { T(i, x); the next i, P(i) } }
//
// and, if the inner loop has no iteration, the outer one without it.
//
// With `tile.ping_pong` two teams carry out every second pass over the inner loop: of the outer indices a team has its own, where
// the warp that loads for both has all (`tile.by_role`). A team takes its turn where a pass begins, and passes it on where the pass
// ends, before what stands behind the inner loop.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/instructions/Wgmma.h"
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

// Is the inner loop all of the body: does it take the carried values as they come and hand them on as they are?
bool isAllOfBody(scf::ForOp outer, scf::ForOp inner) {
  Block *body = outer.getBody();
  return &body->front() == inner && inner->getNextNode() == body->getTerminator() &&
         llvm::equal(inner.getInitArgs(), outer.getRegionIterArgs()) &&
         llvm::equal(outer.getYieldedValues(), inner.getResults());
}

// Bounds of the inner loop are often made in the outer one's body, though they do not depend on it.
void moveBoundsOut(scf::ForOp outer) {
  SmallVector<Operation *> movable;
  for (Operation &op : outer.getBody()->without_terminator())
    if (isPure(&op) && op.getNumRegions() == 0 && llvm::all_of(op.getOperands(), [&](Value v) {
          return outer.isDefinedOutsideOfLoop(v) ||
                 (v.getDefiningOp() && llvm::is_contained(movable, v.getDefiningOp()));
        }))
      movable.push_back(&op);
  for (Operation *op : movable)
    op->moveBefore(outer);
}

// Counts are multiplied: a loop that runs backwards, so not at all, must count 0 and not less.
void keepCountsPositive(scf::ForOp loop, Operation *before) {
  OpBuilder builder(before);
  loop.setUpperBound(
      arith::MaxSIOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound()));
}

bool areOutside(scf::ForOp outer, ValueRange values) {
  return llvm::all_of(values, [&](Value v) { return outer.isDefinedOutsideOfLoop(v); });
}

/// Teams that carry out passes in turn.
constexpr int64_t kTeamsInTurn = 2;

// Why two teams cannot carry out the passes of a nest in turn; empty if they can.
std::string whyNotInTurn(scf::ForOp inner) {
  auto kernel = inner->getParentOfType<func::FuncOp>();
  if (!inner->hasAttr(ir::kSpecializeAttr))
    return "the loop inside has no .warp_specialize()";
  if (inner->hasAttr(ir::kOverlapDotsAttr))
    return "the loop inside has .overlap_dots(), whose groups of warps take turns by themselves";
  if (kernel->hasAttr(ir::kTeamsAttr))
    return "the kernel has teams already";
  if (ir::warpsOf(inner) != ir::kWarpsPerWarpgroup)
    return "a team is a group of four warps, and the kernel has " +
           std::to_string(ir::warpsOf(inner));
  return "";
}

/// A nest with work beside its inner loop.
class NestFlattener {
public:
  NestFlattener(scf::ForOp outer, scf::ForOp inner, bool isInTurn)
      : outer_(outer), inner_(inner), isInTurn_(isInTurn), b_(outer), loc_(outer.getLoc()) {
    for (Operation &op : outer.getBody()->without_terminator())
      if (op.isBeforeInBlock(inner))
        before_.push_back(&op);
      else if (&op != inner)
        behind_.push_back(&op);
  }

  // Why it must stay; empty if it need not.
  std::string refusal() {
    if (outer_.getNumResults())
      return "the outer loop carries values past the work beside the inner one";
    if (outer_.getInductionVar().getType() != inner_.getInductionVar().getType())
      return "the loops count in different types";
    for (Operation *op : before_) {
      if (!isMemoryEffectFree(op))
        return "what stands before the inner loop has effects";
      for (Value result : op->getResults())
        if (isUsedBehind(result)) {
          if (!result.getType().isIntOrIndexOrFloat())
            return "a tile that is made before the inner loop is used in it or behind it";
          places_.push_back(result);
        }
    }
    return "";
  }

  void flatten() {
    Value outerCount = countOf(outer_);
    innerCount_ = countOf(inner_);
    count_ = arith::MulIOp::create(b_, loc_, outerCount, innerCount_);
    Value any = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sgt, count_, number(0));
    if (isInTurn_) {
      takeOwnPasses();
      count_ = arith::MulIOp::create(b_, loc_, countOf(outer_), innerCount_);
    }
    auto branch = scf::IfOp::create(b_, loc_, any, /*withElseRegion=*/true);
    b_.setInsertionPointToStart(branch.elseBlock());
    withoutInner(arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, innerCount_, number(0))
                     .getResult());
    b_.setInsertionPointToStart(branch.thenBlock());
    if (isInTurn_)
      gpu::OrderArriveOp::create(b_, loc_, /*alone=*/true);
    asOne();
    if (isInTurn_)
      takeLastTurn(outerCount);
    outer_.erase();
  }

private:
  // Of the outer indices those of a team, or all.
  void takeOwnPasses() {
    outer_->getParentOfType<func::FuncOp>()->setAttr(ir::kTeamsAttr,
                                                     b_.getI32IntegerAttr(kTeamsInTurn));
    team_ = ir::TeamIdOp::create(b_, loc_, b_.getI32Type());
    if (Type type = outer_.getInductionVar().getType(); type != team_.getType())
      team_ = arith::ExtSIOp::create(b_, loc_, type, team_);
    Value first = outer_.getLowerBound(), step = outer_.getStep();
    Value ownFirst =
        arith::AddIOp::create(b_, loc_, first, arith::MulIOp::create(b_, loc_, team_, step));
    Value ownStep = arith::MulIOp::create(b_, loc_, step, number(kTeamsInTurn));
    outer_.setLowerBound(byRole(first, ownFirst));
    outer_.setStep(byRole(step, ownStep));
  }

  Value byRole(Value all, Value own) {
    return ir::ByRoleOp::create(b_, loc_, all.getType(), all, own);
  }

  // Of the team that would have had the next pass, so that all turns that are passed are taken.
  void takeLastTurn(Value passes) {
    Value next = arith::RemUIOp::create(b_, loc_, passes, number(kTeamsInTurn));
    inBranch(arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, next, team_),
             [&] { gpu::OrderWaitOp::create(b_, loc_, /*alone=*/false); });
  }

  scf::IfOp inBranch(Value condition, llvm::function_ref<void()> write) {
    auto branch = scf::IfOp::create(b_, loc_, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    write();
    return branch;
  }

  bool isUsedBehind(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !outer_.getBody()->findAncestorOpInBlock(*user)->isBeforeInBlock(inner_);
    });
  }

  Value number(int64_t value) {
    return arith::ConstantOp::create(b_, loc_,
                                     b_.getIntegerAttr(outer_.getInductionVar().getType(), value));
  }

  // Steps are positive. A length that is rounded up may pass the largest number with a sign.
  Value countOf(scf::ForOp loop) {
    Value upper = b_.createOrFold<arith::MaxSIOp>(loc_, loop.getLowerBound(), loop.getUpperBound());
    Value length = b_.createOrFold<arith::SubIOp>(loc_, upper, loop.getLowerBound());
    Value less = b_.createOrFold<arith::SubIOp>(loc_, loop.getStep(), number(1));
    length = b_.createOrFold<arith::AddIOp>(loc_, length, less);
    return b_.createOrFold<arith::DivUIOp>(loc_, length, loop.getStep());
  }

  void withoutInner(Value hasNone) {
    inBranch(hasNone, [&] {
      IRMapping at;
      b_.clone(*outer_, at);
      auto inner = cast<scf::ForOp>(at.lookup(inner_.getOperation()));
      inner->replaceAllUsesWith(inner.getInitArgs());
      inner.erase();
    });
  }

  // The loop carries the indices, what follows from the outer one, and what the inner loop carries.
  void asOne() {
    IRMapping first;
    first.map(outer_.getInductionVar(), outer_.getLowerBound());
    SmallVector<Value> carried = {outer_.getLowerBound()};
    llvm::append_range(carried, placesAt(first));
    carried.push_back(inner_.getLowerBound());
    for (Value init : inner_.getInitArgs())
      carried.push_back(first.lookupOrDefault(init));
    auto one = scf::ForOp::create(b_, loc_, number(0), count_, number(1), carried);
    one->setDiscardableAttrs(inner_->getDiscardableAttrDictionary());
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(one.getBody());
    writeBody(one);
  }

  // What stands before the inner loop, of the outer index of a mapping; what of it is used behind.
  SmallVector<Value> placesAt(IRMapping &at) {
    for (Operation *op : before_)
      b_.clone(*op, at);
    return llvm::map_to_vector(places_, [&](Value place) { return at.lookup(place); });
  }

  void writeBody(scf::ForOp one) {
    size_t numPlaces = places_.size();
    Value outerIndex = one.getRegionIterArg(0), index = one.getRegionIterArg(1 + numPlaces);
    IRMapping at;
    at.map(outer_.getInductionVar(), outerIndex);
    at.map(places_, one.getRegionIterArgs().slice(1, numPlaces));
    at.map(inner_.getInductionVar(), index);
    Value isFirst =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, index, inner_.getLowerBound());
    if (isInTurn_)
      gpu::setBeginsPass(
          inBranch(isFirst, [&] { gpu::OrderWaitOp::create(b_, loc_, /*alone=*/false); }));
    for (auto [argument, init, own] :
         llvm::zip_equal(inner_.getRegionIterArgs(), inner_.getInitArgs(),
                         one.getRegionIterArgs().drop_front(2 + numPlaces)))
      at.map(argument,
             arith::SelectOp::create(b_, loc_, isFirst, at.lookupOrDefault(init), own).getResult());
    for (Operation &op : inner_.getBody()->without_terminator())
      b_.clone(op, at);
    for (auto [result, yielded] : llvm::zip_equal(inner_.getResults(), inner_.getYieldedValues()))
      at.map(result, at.lookupOrDefault(yielded));
    Value lastIndex =
        b_.createOrFold<arith::SubIOp>(loc_, inner_.getUpperBound(), inner_.getStep());
    Value isLast = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sge, index, lastIndex);
    writeBehind(isLast, at);
    SmallVector<Value> yielded = nextOuter(one, isLast);
    Value next = arith::AddIOp::create(b_, loc_, index, inner_.getStep());
    yielded.push_back(
        arith::SelectOp::create(b_, loc_, isLast, inner_.getLowerBound(), next).getResult());
    for (Value value : inner_.getResults())
      yielded.push_back(at.lookup(value));
    scf::YieldOp::create(b_, loc_, yielded);
  }

  void writeBehind(Value isLast, IRMapping &at) {
    if (isInTurn_)
      gpu::OrderArriveOp::create(b_, loc_, isLast, narrow(innerCount_), /*alone=*/false);
    if (behind_.empty())
      return;
    gpu::setEndsPass(inBranch(isLast, [&] {
      for (Operation *op : behind_)
        b_.clone(*op, at);
    }));
  }

  Value narrow(Value count) {
    Type i32 = b_.getI32Type();
    return count.getType() == i32 ? count
                                  : arith::TruncIOp::create(b_, loc_, i32, count).getResult();
  }

  // Behind the last pair there is no next outer index, of which nothing may be computed.
  SmallVector<Value> nextOuter(scf::ForOp one, Value isLast) {
    Value lastPair = b_.createOrFold<arith::SubIOp>(loc_, count_, number(1));
    Value isBefore =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, one.getInductionVar(), lastPair);
    Value moves = arith::AndIOp::create(b_, loc_, isLast, isBefore);
    ValueRange now = one.getRegionIterArgs().take_front(1 + places_.size());
    auto branch = scf::IfOp::create(b_, loc_, TypeRange(now), moves, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    IRMapping at;
    Value next = arith::AddIOp::create(b_, loc_, now.front(), outer_.getStep());
    at.map(outer_.getInductionVar(), next);
    SmallVector<Value> yielded = {next};
    llvm::append_range(yielded, placesAt(at));
    scf::YieldOp::create(b_, loc_, yielded);
    b_.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b_, loc_, now);
    return llvm::to_vector_of<Value>(branch.getResults());
  }

  scf::ForOp outer_, inner_;
  bool isInTurn_;
  OpBuilder b_;
  Location loc_;
  SmallVector<Operation *> before_, behind_;
  SmallVector<Value> places_; ///< what of `before_` is used in the inner loop or behind it
  Value innerCount_;          ///< of iterations of a pass
  Value count_;               ///< of pairs of indices
  Value team_;                ///< if teams take turns
};

struct FlattenLoops : passes::impl::FlattenLoopsBase<FlattenLoops> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops; // inner ones first
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(ir::kFlattenAttr) || loop->hasAttr(ir::kPingPongAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp outer : loops) {
      bool flattens = outer->removeAttr(ir::kFlattenAttr) != nullptr,
           takesTurns = outer->removeAttr(ir::kPingPongAttr) != nullptr;
      if (flattens)
        flatten(outer, takesTurns);
      else
        outer.emitRemark("ping_pong: the loop stays as it is: it has no .flatten()");
    }
  }

  void flatten(scf::ForOp outer, bool takesTurns) {
    moveBoundsOut(outer);
    auto inners = llvm::to_vector(outer.getBody()->getOps<scf::ForOp>());
    if (inners.size() != 1) {
      outer.emitRemark("not flattened: the body must hold one loop");
      return;
    }
    scf::ForOp inner = inners.front();
    if (!areOutside(outer, {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})) {
      outer.emitRemark("not flattened: the inner bounds depend on the outer index");
      return;
    }
    if (takesTurns || !isAllOfBody(outer, inner))
      return flattenWithWork(outer, inner, takesTurns);
    for (scf::ForOp loop : {outer, inner})
      keepCountsPositive(loop, outer);
    SmallVector<scf::ForOp> nest = {outer, inner};
    if (failed(coalesceLoops(nest)))
      outer.emitRemark("not flattened: the loops' form does not allow it");
  }

  static void flattenWithWork(scf::ForOp outer, scf::ForOp inner, bool takesTurns) {
    std::string why = takesTurns ? whyNotInTurn(inner) : "";
    if (!why.empty())
      outer.emitRemark("ping_pong: the loop stays as it is: ") << why;
    NestFlattener nest(outer, inner, takesTurns && why.empty());
    if (std::string refusal = nest.refusal(); !refusal.empty())
      outer.emitRemark("not flattened: ") << refusal;
    else
      nest.flatten();
  }
};

} // namespace

} // namespace tile::passes
