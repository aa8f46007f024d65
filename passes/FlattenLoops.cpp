// FlattenLoops: `tile.flatten` on a loop makes it and the loop inside it one. The nest must be perfect: what stands beside
// the inner loop would have to be predicated, and the author can write that better.
#include "passes/Passes.h"

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

// The inner loop if it is all of the body: it takes the carried values as they come and hands them on as they are.
scf::ForOp onlyLoopIn(scf::ForOp outer) {
  Block *body = outer.getBody();
  auto inner = dyn_cast<scf::ForOp>(body->front());
  if (!inner || inner->getNextNode() != body->getTerminator())
    return {};
  bool passesOn = llvm::equal(inner.getInitArgs(), outer.getRegionIterArgs()) &&
                  llvm::equal(outer.getYieldedValues(), inner.getResults());
  return passesOn ? inner : scf::ForOp();
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

  void flatten(scf::ForOp outer) {
    moveBoundsOut(outer);
    scf::ForOp inner = onlyLoopIn(outer);
    if (!inner) {
      outer.emitRemark("not flattened: the body must be one loop and nothing else");
      return;
    }
    if (!areOutside(outer, {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})) {
      outer.emitRemark("not flattened: the inner bounds depend on the outer index");
      return;
    }
    for (scf::ForOp loop : {outer, inner})
      keepCountsPositive(loop, outer);
    SmallVector<scf::ForOp> nest = {outer, inner};
    if (failed(coalesceLoops(nest)))
      outer.emitRemark("not flattened: the loops' form does not allow it");
  }
};

} // namespace

} // namespace tile::passes
