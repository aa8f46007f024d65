// NestLoops: restores the loop nest that FlattenLoops merged.
//
//   for i { if first step { F }; A; if last step { E }; B }
//   becomes
//   while i < n { F; do { A; B; i += step } while !last; E }
//
// The loop was flattened so that loads run ahead from tile to tile, which they still do in A. But
// ptxas follows wgmma through loops, not through branches in them. If accumulators are read in a
// branch of the loop in which dots are in flight, in more than one of its blocks, it serializes all
// dots (C7514); after an inner loop it sees that the wait completes them.
#include "codegen/Passes.h"

#include "ir/annotations/LoopAnnotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace tile::codegen {
#define GEN_PASS_DEF_NESTLOOPS
#include "codegen/Passes.h.inc"
} // namespace tile::codegen

using namespace mlir;

namespace tile::codegen {

namespace {

class Nester {
public:
  Nester(scf::ForOp loop, scf::IfOp begin, scf::IfOp end)
      : loop_(loop), begin_(begin), end_(end), b_(loop), loc_(loop.getLoc()),
        numCarried_(1 + loop.getNumResults()) {
    moveIntoEnd();
    // The values that the end takes from the iteration: results of the body, and variables of the
    // step.
    llvm::SetVector<Value> taken;
    getUsedValuesDefinedAbove(end_.getThenRegion(), taken);
    for (Value value : taken)
      if (loop_.getRegion().isAncestor(value.getParentRegion()))
        taken_.push_back(value);
  }

  void nest() {
    SmallVector<Value> initial = {loop_.getLowerBound()};
    llvm::append_range(initial, loop_.getInitArgs());
    auto tiles = makeWhile(initial, TypeRange(ValueRange(initial)));
    b_.setInsertionPointToStart(tiles.getBeforeBody());
    ValueRange now = tiles.getBeforeArguments();
    Value isMore = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, now.front(),
                                         loop_.getUpperBound());
    scf::ConditionOp::create(b_, loc_, isMore, now);
    b_.setInsertionPointToStart(tiles.getAfterBody());
    if (begin_)
      writeBranch(begin_, {});
    scf::WhileOp iterations = writeSteps(tiles.getAfterArguments());
    IRMapping at;
    at.map(taken_, iterations.getResults().drop_front(numCarried_));
    writeBranch(end_, at);
    scf::YieldOp::create(b_, loc_, iterations.getResults().take_front(numCarried_));
    loop_.replaceAllUsesWith(tiles.getResults().drop_front());
    loop_.erase();
  }

private:
  // Moves operations that only the end uses to their first user. LLVM would hoist them to the
  // beginning of the end, before the wait for dots, and with an instruction between the loop and
  // the wait ptxas takes what follows for a part of the loop.
  void moveIntoEnd() {
    Block *end = end_.thenBlock();
    auto isInEnd = [&](Operation *user) { return end_->isProperAncestor(user); };
    SmallVector<Operation *> before;
    for (Operation &op : *loop_.getBody())
      if (&op == end_)
        break;
      else if (op.getNumRegions() == 0 && isMemoryEffectFree(&op))
        before.push_back(&op);
    for (Operation *op : llvm::reverse(before)) {
      if (op->use_empty() || !llvm::all_of(op->getUsers(), isInEnd))
        continue;
      Operation *first = end->getTerminator();
      for (Operation *user : op->getUsers())
        if (Operation *inEnd = end->findAncestorOpInBlock(*user); inEnd->isBeforeInBlock(first))
          first = inEnd;
      op->moveBefore(first);
    }
  }

  scf::WhileOp makeWhile(ValueRange initial, TypeRange results) {
    auto loop = scf::WhileOp::create(b_, loc_, results, initial);
    OpBuilder::InsertionGuard guard(b_);
    auto addBlock = [&](Region &region, TypeRange types) {
      b_.createBlock(&region, {}, types, SmallVector<Location>(types.size(), loc_));
    };
    addBlock(loop.getBefore(), initial.getTypes());
    addBlock(loop.getAfter(), results);
    return loop;
  }

  // The steps of a tile. They yield the carried values, and then what the end takes from the last
  // step.
  scf::WhileOp writeSteps(ValueRange initial) {
    SmallVector<Type> results(initial.getTypes());
    llvm::append_range(results, ValueRange(taken_).getTypes());
    scf::WhileOp iterations = makeWhile(initial, results);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(iterations.getBeforeBody());
    IRMapping at;
    at.map(loop_.getInductionVar(), iterations.getBeforeArguments().front());
    at.map(loop_.getRegionIterArgs(), iterations.getBeforeArguments().drop_front());
    for (Operation &op : loop_.getBody()->without_terminator())
      if (&op != begin_ && &op != end_)
        b_.clone(op, at);
    SmallVector<Value> handedOn = {
        arith::AddIOp::create(b_, loc_, iterations.getBeforeArguments().front(), loop_.getStep())};
    for (Value value : loop_.getYieldedValues())
      handedOn.push_back(at.lookupOrDefault(value));
    for (Value value : taken_)
      handedOn.push_back(at.lookup(value));
    Value isLast = at.lookupOrDefault(end_.getCondition());
    Value yes = arith::ConstantIntOp::create(b_, loc_, 1, 1);
    Value goesOn = arith::XOrIOp::create(b_, loc_, isLast, yes);
    scf::ConditionOp::create(b_, loc_, goesOn, handedOn);
    b_.setInsertionPointToStart(iterations.getAfterBody());
    scf::YieldOp::create(b_, loc_, iterations.getAfterArguments().take_front(numCarried_));
    return iterations;
  }

  void writeBranch(scf::IfOp branch, IRMapping at) {
    for (Operation &op : branch.thenBlock()->without_terminator())
      b_.clone(op, at);
  }

  scf::ForOp loop_;
  scf::IfOp begin_; ///< null if nothing executes in the first step alone
  scf::IfOp end_;
  OpBuilder b_;
  Location loc_;
  size_t numCarried_; ///< the loop's index and variables
  SmallVector<Value> taken_;
};

// The branch of the last step, if the operations after it can execute before it.
scf::IfOp epilogueOf(scf::ForOp loop) {
  scf::IfOp end;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto branch = dyn_cast<scf::IfOp>(op);
        branch && gpu::tileStepOf(branch) == gpu::TileStep::Last)
      end = branch;
    else if (end && !isMemoryEffectFree(&op))
      return {};
  }
  bool isPlain = loop->getDiscardableAttrs().empty(); // attributes that are for `for` alone
  return end && isPlain && end.getElseRegion().empty() ? end : scf::IfOp();
}

// The branch of the first step, if nothing before it has effects and it uses no value of the body.
scf::IfOp firstStepOf(scf::ForOp loop) {
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto branch = dyn_cast<scf::IfOp>(op);
        branch && gpu::tileStepOf(branch) == gpu::TileStep::First) {
      llvm::SetVector<Value> taken;
      getUsedValuesDefinedAbove(branch.getThenRegion(), taken);
      bool takesOfBody = llvm::any_of(
          taken, [&](Value value) { return loop.getRegion().isAncestor(value.getParentRegion()); });
      return takesOfBody ? scf::IfOp() : branch;
    }
    if (!isMemoryEffectFree(&op))
      return {};
  }
  return {};
}

struct NestLoops : codegen::impl::NestLoopsBase<NestLoops> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (scf::IfOp end = epilogueOf(loop))
        Nester(loop, firstStepOf(loop), end).nest();
  }
};

} // namespace

} // namespace tile::codegen
