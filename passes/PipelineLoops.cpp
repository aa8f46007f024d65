// PipelineLoops: the ring of a loop of S stages gets S slots, and is filled S - 1 iterations ahead:
//
//   for i in 0 .. S-2:  fill i                     if there is an iteration i
//   loop i:             get i; fill i + S - 1      if there is such an iteration; read; release i
//
// What the places of the copies follow from is computed again for the later iteration; variables of the loop that it
// depends on run ahead in variables of their own. Each fill is committed whether it happens or not, so that waits can
// count. Loads that end in registers are issued with the copies and put at the end of the iteration, when they have come.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "passes/analysis/RingProtocol.h"
#include "passes/analysis/RunAhead.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile::passes {
#define GEN_PASS_DEF_PIPELINELOOPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// The operations that fill the ring of a loop in its body.
struct FillOps {
  gpu::RingAcquireOp acquire;
  SmallVector<Operation *> loads; ///< into registers, and changes of rank behind them, in program order
  SmallVector<gpu::RingCopyOp> copies;
  SmallVector<gpu::RingPutOp> puts;
  gpu::RingCommitOp commit;
  gpu::RingGetOp get;
};

class LoopPipeliner {
public:
  LoopPipeliner(scf::ForOp loop, int32_t stages)
      : loop(loop), ahead(stages - 1), b(loop.getContext()), loc(loop.getLoc()) {}

  void pipeline() {
    collect();
    setSlots();
    SmallVector<Value> carriedAhead = fillBefore();
    fillInside(carriedAhead);
    eraseFill();
  }

private:
  void collect() {
    ops.acquire = ringOf(loop);
    for (Operation &op : *loop.getBody()) {
      if (!llvm::is_contained(op.getOperands(), ops.acquire.getRing()))
        continue;
      if (auto copy = dyn_cast<gpu::RingCopyOp>(op))
        ops.copies.push_back(copy);
      else if (auto put = dyn_cast<gpu::RingPutOp>(op))
        ops.puts.push_back(put);
      else if (auto commit = dyn_cast<gpu::RingCommitOp>(op))
        ops.commit = commit;
      else if (auto get = dyn_cast<gpu::RingGetOp>(op))
        ops.get = get;
    }
    SmallVector<Value> places = {ops.acquire.getFill()};
    for (gpu::RingCopyOp copy : ops.copies)
      llvm::append_range(places, ValueRange(copy->getOperands()).drop_back());
    for (gpu::RingPutOp put : ops.puts)
      collectLoad(put.getValue().getDefiningOp(), places);
    slice = *aheadSlice(places, loop);
  }

  // The load behind a put, and the change of its rank.
  void collectLoad(Operation *op, SmallVector<Value> &places) {
    if (auto load = dyn_cast<ir::ViewLoadOp>(op))
      llvm::append_range(places, load->getOperands());
    else
      collectLoad(op->getOperand(0).getDefiningOp(), places);
    ops.loads.push_back(op);
  }

  void setSlots() {
    Value ring = ops.acquire.getRing();
    ring.setType(gpu::RingType::get(b.getContext(), ahead + 1,
                                    cast<gpu::RingType>(ring.getType()).getTiles()));
  }

  Value inLoopType(int64_t number) {
    return arith::ConstantOp::create(b, loc,
                                     b.getIntegerAttr(loop.getInductionVar().getType(), number));
  }

  Value steps(int64_t count) {
    return b.createOrFold<arith::MulIOp>(loc, loop.getStep(), inLoopType(count));
  }

  // Is there an iteration `count` behind the one of this index? So that nothing overflows at the end of the numbers,
  // the bound moves and not the index.
  Value hasIteration(Value index, int64_t count) {
    Value bound = b.createOrFold<arith::SubIOp>(loc, loop.getUpperBound(), steps(count));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, bound);
  }

  // The fills before the loop; the variables as they are that many iterations later.
  SmallVector<Value> fillBefore() {
    b.setInsertionPoint(loop);
    IRMapping now;
    for (BlockArgument variable : slice.carried)
      now.map(variable, loop.getTiedLoopInit(variable)->get());
    for (int64_t i = 0; i < ahead; ++i) {
      Value index = b.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), steps(i));
      now.map(loop.getInductionVar(), index);
      Fill fill = issue(now, hasIteration(loop.getLowerBound(), i), i);
      putAndCommit(fill);
      advance(now);
    }
    return llvm::map_to_vector(slice.carried,
                               [&](BlockArgument variable) { return now.lookup(variable); });
  }

  // The fill of each iteration comes behind its get, where the slot's readers are known to be done.
  void fillInside(ValueRange carriedAhead) {
    IRMapping later;
    auto nextOnes = [&](OpBuilder &, Location, ArrayRef<BlockArgument> variables) {
      for (auto [variable, own] : llvm::zip_equal(slice.carried, variables))
        later.map(variable, own);
      b.setInsertionPointAfter(ops.get);
      Value index = b.createOrFold<arith::AddIOp>(loc, loop.getInductionVar(), steps(ahead));
      later.map(loop.getInductionVar(), index);
      Fill fill = issue(later, hasIteration(loop.getInductionVar(), ahead));
      b.setInsertionPoint(loop.getBody()->getTerminator());
      putAndCommit(fill);
      advance(later);
      return llvm::map_to_vector(slice.carried,
                                 [&](BlockArgument variable) { return later.lookup(variable); });
    };
    if (carriedAhead.empty()) {
      nextOnes(b, loc, {});
      return;
    }
    // The loop is built anew; its body moves when it is complete.
    IRRewriter rewriter(b.getContext());
    rewriter.setInsertionPoint(loop);
    (void)loop.replaceWithAdditionalYields(rewriter, carriedAhead,
                                           /*replaceInitOperandUsesInLoop=*/false, nextOnes);
  }

  /// A fill that was issued: its number and the tiles that are still to be put.
  struct Fill {
    Value number;
    SmallVector<Value> tiles;
  };

  // Copies on a condition. What may not be carried out in vain, and tiles in registers, stand in a branch.
  Fill issue(IRMapping &at, Value condition, std::optional<int64_t> knownNumber = {}) {
    if (slice.isSpeculatable() && ops.loads.empty()) {
      cloneAll(slice.ops, at);
      acquire(at, knownNumber);
      for (gpu::RingCopyOp copy : ops.copies)
        cast<gpu::RingCopyOp>(b.clone(*copy, at)).getPredicateMutable().assign(condition);
      return {at.lookupOrDefault(ops.acquire.getFill()), {}};
    }
    cloneAll(numberSlice(), at);
    acquire(at, knownNumber);
    auto branch = scf::IfOp::create(b, loc, tileTypes(), condition, !ops.puts.empty());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      IRMapping inside(at);
      cloneAll(slice.ops, inside);
      inside.map(ops.acquire.getFill(), at.lookupOrDefault(ops.acquire.getFill()));
      cloneAll(ops.loads, inside);
      for (gpu::RingCopyOp copy : ops.copies)
        b.clone(*copy, inside);
      if (!ops.puts.empty())
        yieldTiles(branch, inside);
    }
    return {at.lookupOrDefault(ops.acquire.getFill()), SmallVector<Value>(branch.getResults())};
  }

  void acquire(IRMapping &at, std::optional<int64_t> knownNumber) {
    if (knownNumber)
      at.map(ops.acquire.getFill(),
             arith::ConstantIntOp::create(b, loc, *knownNumber, 32).getResult());
    b.clone(*ops.acquire, at);
  }

  // What the number of the fill follows from is free of effects, and of use outside the branch.
  SmallVector<Operation *> numberSlice() {
    auto number = aheadSlice(ops.acquire.getFill(), loop);
    return SmallVector<Operation *>(number->ops.begin(), number->ops.end());
  }

  SmallVector<Type> tileTypes() {
    SmallVector<Type> types;
    for (gpu::RingPutOp put : ops.puts)
      types.push_back(put.getValue().getType());
    return types;
  }

  void yieldTiles(scf::IfOp branch, IRMapping &inside) {
    SmallVector<Value> loaded;
    for (gpu::RingPutOp put : ops.puts)
      loaded.push_back(inside.lookup(put.getValue()));
    scf::YieldOp::create(b, loc, loaded);
    b.setInsertionPointToStart(branch.elseBlock());
    SmallVector<Value> nothing;
    for (Type type : tileTypes())
      nothing.push_back(
          arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type))));
    scf::YieldOp::create(b, loc, nothing);
  }

  template <class Ops> void cloneAll(const Ops &all, IRMapping &at) {
    for (Operation *op : all)
      b.clone(*op, at);
  }

  void putAndCommit(const Fill &fill) {
    for (auto [put, tile] : llvm::zip_equal(ops.puts, fill.tiles))
      gpu::RingPutOp::create(b, put.getLoc(), tile, put.getRing(), fill.number, put.getPart());
    gpu::RingCommitOp::create(b, ops.commit.getLoc(), ops.commit.getRing(), fill.number);
  }

  // The variables as they are an iteration later.
  void advance(IRMapping &at) {
    if (slice.carried.empty())
      return;
    IRMapping stepped(at);
    cloneAll(slice.steps, stepped);
    for (BlockArgument variable : slice.carried)
      at.map(variable, stepped.lookupOrDefault(loop.getTiedLoopYieldedValue(variable)->get()));
  }

  void eraseFill() {
    for (Operation *put : ops.puts)
      put->erase();
    for (Operation *copy : ops.copies)
      copy->erase();
    for (Operation *load : llvm::reverse(ops.loads))
      load->erase();
    ops.acquire.erase();
    ops.commit.erase();
  }

  scf::ForOp loop;
  int64_t ahead;
  OpBuilder b;
  Location loc;
  FillOps ops;
  AheadSlice slice;
};

struct PipelineLoops : passes::impl::PipelineLoopsBase<PipelineLoops> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      gpu::ScheduleAttr schedule = gpu::scheduleOf(loop);
      if (schedule && schedule.getStages() > 1)
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      LoopPipeliner(loop, gpu::scheduleOf(loop).getStages()).pipeline();
    if (failed(verifyRings(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
