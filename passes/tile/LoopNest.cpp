#include "passes/tile/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tile::passes {

bool LoopNest::isInnerAll() const {
  scf::ForOp loop = inner, around = outer; // whose methods are not const
  Block *body = around.getBody();
  return &body->front() == loop && loop->getNextNode() == body->getTerminator() &&
         llvm::equal(loop.getInitArgs(), around.getRegionIterArgs()) &&
         llvm::equal(around.getYieldedValues(), loop.getResults());
}

static void moveBoundsOut(scf::ForOp outer) {
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

static bool isUsedAfter(Value value, LoopNest &nest) {
  Block *body = nest.before.front()->getBlock();
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return !body->findAncestorOpInBlock(*user)->isBeforeInBlock(nest.inner);
  });
}

LoopNest nestOf(scf::ForOp outer, Refusal *why) {
  moveBoundsOut(outer);
  auto refuse = [&](const char *reason) {
    if (why)
      *why = reason;
    return LoopNest();
  };
  auto inners = llvm::to_vector(outer.getBody()->getOps<scf::ForOp>());
  if (inners.size() != 1)
    return refuse("the body must hold one loop");
  scf::ForOp inner = inners.front();
  // Programs count in integers; upstream's coalescing would make operations of dialect affine.
  if (outer.getInductionVar().getType().isIndex() || inner.getInductionVar().getType().isIndex())
    return refuse("the loops count in `index`, which has no width");
  for (Value bound : {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
    if (!outer.isDefinedOutsideOfLoop(bound))
      return refuse("the inner bounds depend on the outer index");
  LoopNest nest{outer, inner, {}, {}, {}};
  for (Operation &op : outer.getBody()->without_terminator())
    if (&op != inner)
      (op.isBeforeInBlock(inner) ? nest.before : nest.after).push_back(&op);
  for (Operation *op : nest.before)
    for (Value result : op->getResults())
      if (isUsedAfter(result, nest))
        nest.carried.push_back(result);
  return nest;
}

// The first arrival and the last wait of the ordered barrier, as PingPongLoops puts them.
static bool hasOrderAround(scf::ForOp outer) {
  Operation *first = outer->getPrevNode();
  while (first && !isa<gpu::OrderBeginOp>(first))
    first = first->getPrevNode();
  auto balance = dyn_cast_or_null<scf::IfOp>(outer->getNextNode());
  return first && balance && !balance.thenBlock()->getOps<gpu::OrderWaitOp>().empty();
}

Refusal whyNotFlattenable(const LoopNest &nest) {
  scf::ForOp outer = nest.outer, inner = nest.inner;
  if (outer.getNumResults())
    return "the outer loop carries values past the work beside the inner one";
  if (outer.getInductionVar().getType() != inner.getInductionVar().getType())
    return "the loops count in different types";
  for (Operation *op : nest.before)
    if (!isMemoryEffectFree(op) && !(isa<gpu::OrderWaitOp>(op) && hasOrderAround(outer)))
      return "what stands before the inner loop has effects";
  for (Value value : nest.carried)
    if (!value.getType().isIntOrIndexOrFloat())
      return "a tile that is made before the inner loop is used in it or after it";
  return {};
}

// The value that the producer takes for a bound.
static Value ofProducer(Value bound) {
  auto byRole = bound.getDefiningOp<ir::ByRoleOp>();
  return byRole ? byRole.getAll() : bound;
}

// The rounded-up length may exceed the largest signed number, so the division is unsigned.
Value tripCountOf(OpBuilder &b, scf::ForOp loop, bool all) {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), step = loop.getStep();
  if (all)
    lower = ofProducer(lower), step = ofProducer(step);
  Type type = loop.getInductionVar().getType();
  Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 1));
  Value upper = b.createOrFold<arith::MaxSIOp>(loc, lower, loop.getUpperBound());
  Value length = b.createOrFold<arith::SubIOp>(loc, upper, lower);
  Value less = b.createOrFold<arith::SubIOp>(loc, step, one);
  length = b.createOrFold<arith::AddIOp>(loc, length, less);
  return b.createOrFold<arith::DivUIOp>(loc, length, step);
}

} // namespace tile::passes
