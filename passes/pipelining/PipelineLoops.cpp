// PipelineLoops: each ring of a loop of S stages gets S stages, and its fills move S - 1 iterations
// ahead:
//
//   before the loop:  fills 0 .. S - 2, each if there is such an iteration (the prologue)
//   iteration i:      wait i; fill i + S - 1, if there is such an iteration; read; release i
//
// The operands of the copies are computed again for the later iteration; loop variables that they
// depend on run ahead in variables of their own. Each fill is committed even if it copies nothing,
// since waits count commits. Loads into registers are issued with the copies and put at the end of
// the iteration, when they have arrived.
//
// If TMA fills the ring, the loop's wgmma stays in flight across the back edge, so that the tensor
// core does not idle between iterations: iteration i waits for dot i - 1, whose stage it then
// refills:
//
//   iteration i:      wait i; dot i; wait for dot i - 1; release i - 1; fill i + S - 1
#include "passes/Passes.h"

#include "ir/annotations/LoopAnnotations.h"
#include "passes/analysis/RunAhead.h"
#include "passes/pipelining/DotInFlight.h"
#include "passes/pipelining/analysis/LoopPlans.h"
#include "passes/pipelining/analysis/RingProtocol.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile::passes {
#define GEN_PASS_DEF_PIPELINELOOPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

struct FillOps {
  gpu::ProducerAcquireOp acquire;
  SmallVector<Operation *> loads;
  SmallVector<gpu::RingCopyOp> copies;
  SmallVector<gpu::RingPutOp> puts;
  gpu::ProducerCommitOp commit;
  gpu::ConsumerWaitOp get;
};

class RingPipeliner {
public:
  RingPipeliner(scf::ForOp &loop, gpu::ProducerAcquireOp acquire, int32_t stages)
      : loop_(loop), ahead_(stages - 1), b_(loop.getContext()), loc_(loop.getLoc()) {
    ops_.acquire = acquire;
  }

  LogicalResult pipeline() {
    if (failed(collect()))
      return failure();
    if (gpu::loopPlanOf(loop_).getDotsInFlight() &&
        isFilledByTma(ops_.acquire.getRing().getDefiningOp<gpu::RingAllocOp>()))
      waitOfDot_ = keepDotInFlight(loop_, ops_.acquire.getRing());
    if (failed(slice()))
      return failure();
    if (failed(setStages()))
      return failure();
    SmallVector<Value> carriedAhead = fillBefore();
    fillInside(carriedAhead);
    eraseFill();
    return success();
  }

  bool keepsDotInFlight() const { return waitOfDot_ != nullptr; }

private:
  LogicalResult collect() {
    for (Operation &op : *loop_.getBody()) {
      if (!llvm::is_contained(op.getOperands(), ops_.acquire.getRing()))
        continue;
      if (auto copy = dyn_cast<gpu::RingCopyOp>(op))
        ops_.copies.push_back(copy);
      else if (auto put = dyn_cast<gpu::RingPutOp>(op))
        ops_.puts.push_back(put);
      else if (auto commit = dyn_cast<gpu::ProducerCommitOp>(op))
        ops_.commit = commit;
      else if (auto get = dyn_cast<gpu::ConsumerWaitOp>(op))
        ops_.get = get;
    }
    if (!ops_.commit || !ops_.get)
      return ops_.acquire.emitOpError("needs a commit and a get of its fill in the same body");
    return success();
  }

  LogicalResult slice() {
    SmallVector<Value> places = {ops_.acquire.getFill()};
    for (gpu::RingCopyOp copy : ops_.copies)
      llvm::append_range(places, copy->getOperands());
    for (gpu::RingPutOp put : ops_.puts)
      if (!collectLoad(put.getValue().getDefiningOp(), places))
        return put.emitOpError("cannot run ahead: it puts what no load of the body delivers");
    Refusal why;
    std::optional<AheadSlice> slice = aheadSlice(places, loop_, &why);
    if (!slice)
      return ops_.acquire.emitOpError("cannot run ahead: of a load, ") << *why;
    slice_ = std::move(*slice);
    return success();
  }

  // Collects the load that feeds a put, through reshapes; false if there is none in the body.
  bool collectLoad(Operation *op, SmallVector<Value> &places) {
    if (!op || op->getBlock() != loop_.getBody())
      return false;
    if (isa<ir::ViewLoadOp>(op))
      llvm::append_range(places, op->getOperands());
    else if (!isa<ir::ReshapeOp>(op) || !collectLoad(op->getOperand(0).getDefiningOp(), places))
      return false;
    ops_.loads.push_back(op);
    return true;
  }

  LogicalResult setStages() {
    Value ring = ops_.acquire.getRing();
    auto type = gpu::RingType::getChecked([&] { return ops_.acquire.emitOpError(); },
                                          b_.getContext(), static_cast<int32_t>(ahead_ + 1),
                                          cast<gpu::RingType>(ring.getType()).getTiles());
    if (type)
      ring.setType(type);
    return success(type != nullptr);
  }

  Value inLoopType(int64_t number) {
    return arith::ConstantOp::create(b_, loc_,
                                     b_.getIntegerAttr(loop_.getInductionVar().getType(), number));
  }

  Value steps(int64_t count) {
    return b_.createOrFold<arith::MulIOp>(loc_, loop_.getStep(), inLoopType(count));
  }

  // Does an iteration `count` later exist? The bound moves and not the index, which could overflow.
  Value hasIteration(Value index, int64_t count) {
    Value bound = b_.createOrFold<arith::SubIOp>(loc_, loop_.getUpperBound(), steps(count));
    return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, index, bound);
  }

  // The prologue. Returns the loop variables that run ahead, as they are after it.
  SmallVector<Value> fillBefore() {
    b_.setInsertionPoint(loop_);
    IRMapping now;
    for (BlockArgument variable : slice_.carried)
      now.map(variable, loop_.getTiedLoopInit(variable)->get());
    for (int64_t i = 0; i < ahead_; ++i) {
      Value index = b_.createOrFold<arith::AddIOp>(loc_, loop_.getLowerBound(), steps(i));
      now.map(loop_.getInductionVar(), index);
      Fill fill = issue(now, hasIteration(loop_.getLowerBound(), i), i);
      putAndCommit(fill);
      advance(now);
    }
    return llvm::map_to_vector(slice_.carried,
                               [&](BlockArgument variable) { return now.lookup(variable); });
  }

  // A stage may be refilled once its readers are done: after the wait for the fill (the previous
  // iteration has released its own), or after the wait for the previous iteration's dot.
  void fillInside(ValueRange carriedAhead) {
    IRMapping later;
    auto nextOnes = [&](OpBuilder &, Location, ArrayRef<BlockArgument> variables) {
      for (auto [variable, own] : llvm::zip_equal(slice_.carried, variables))
        later.map(variable, own);
      b_.setInsertionPointAfter(waitOfDot_ ? waitOfDot_ : ops_.get);
      Value index = b_.createOrFold<arith::AddIOp>(loc_, loop_.getInductionVar(), steps(ahead_));
      later.map(loop_.getInductionVar(), index);
      Fill fill = issue(later, hasIteration(loop_.getInductionVar(), ahead_));
      b_.setInsertionPoint(loop_.getBody()->getTerminator());
      putAndCommit(fill);
      advance(later);
      return llvm::map_to_vector(slice_.carried,
                                 [&](BlockArgument variable) { return later.lookup(variable); });
    };
    if (carriedAhead.empty()) {
      nextOnes(b_, loc_, {});
      return;
    }
    IRRewriter rewriter(b_.getContext());
    rewriter.setInsertionPoint(loop_);
    loop_ = cast<scf::ForOp>(*loop_.replaceWithAdditionalYields(
        rewriter, carriedAhead, /*replaceInitOperandUsesInLoop=*/false, nextOnes));
  }

  struct Fill {
    Value number;
    SmallVector<Value> tiles;
  };

  // Predicates the copies. Operations that must not execute speculatively, and loads into
  // registers, go into a branch instead.
  Fill issue(IRMapping &at, Value condition, std::optional<int64_t> knownNumber = {}) {
    if (slice_.isSpeculatable() && ops_.loads.empty()) {
      cloneAll(slice_.ops, at);
      acquire(at, knownNumber);
      for (gpu::RingCopyOp copy : ops_.copies)
        cast<gpu::RingCopyOp>(b_.clone(*copy, at)).getPredicateMutable().assign(condition);
      return {at.lookupOrDefault(ops_.acquire.getFill()), {}};
    }
    cloneAll(numberSlice(), at);
    acquire(at, knownNumber);
    auto branch = scf::IfOp::create(b_, loc_, tileTypes(), condition, !ops_.puts.empty());
    {
      OpBuilder::InsertionGuard guard(b_);
      b_.setInsertionPointToStart(branch.thenBlock());
      IRMapping inside(at);
      cloneAll(slice_.ops, inside);
      inside.map(ops_.acquire.getFill(), at.lookupOrDefault(ops_.acquire.getFill()));
      cloneAll(ops_.loads, inside);
      for (gpu::RingCopyOp copy : ops_.copies)
        b_.clone(*copy, inside);
      if (!ops_.puts.empty())
        yieldTiles(branch, inside);
    }
    return {at.lookupOrDefault(ops_.acquire.getFill()), SmallVector<Value>(branch.getResults())};
  }

  void acquire(IRMapping &at, std::optional<int64_t> knownNumber) {
    if (knownNumber)
      at.map(ops_.acquire.getFill(),
             arith::ConstantIntOp::create(b_, loc_, *knownNumber, 32).getResult());
    b_.clone(*ops_.acquire, at);
  }

  // The number of the fill is used outside of the branch, too, and its computation has no effects.
  SmallVector<Operation *> numberSlice() {
    auto number = aheadSlice(ops_.acquire.getFill(), loop_);
    return SmallVector<Operation *>(number->ops.begin(), number->ops.end());
  }

  SmallVector<Type> tileTypes() {
    SmallVector<Type> types;
    for (gpu::RingPutOp put : ops_.puts)
      types.push_back(put.getValue().getType());
    return types;
  }

  void yieldTiles(scf::IfOp branch, IRMapping &inside) {
    SmallVector<Value> loaded;
    for (gpu::RingPutOp put : ops_.puts)
      loaded.push_back(inside.lookup(put.getValue()));
    scf::YieldOp::create(b_, loc_, loaded);
    b_.setInsertionPointToStart(branch.elseBlock());
    SmallVector<Value> nothing;
    for (Type type : tileTypes())
      nothing.push_back(arith::ConstantOp::create(b_, loc_, cast<TypedAttr>(b_.getZeroAttr(type))));
    scf::YieldOp::create(b_, loc_, nothing);
  }

  template <class Ops> void cloneAll(const Ops &all, IRMapping &at) {
    for (Operation *op : all)
      b_.clone(*op, at);
  }

  void putAndCommit(const Fill &fill) {
    for (auto [put, tile] : llvm::zip_equal(ops_.puts, fill.tiles))
      gpu::RingPutOp::create(b_, put.getLoc(), tile, put.getRing(), fill.number,
                             put.getOperandIndex());
    gpu::ProducerCommitOp::create(b_, ops_.commit.getLoc(), ops_.commit.getRing(), fill.number);
  }

  void advance(IRMapping &at) {
    if (slice_.carried.empty())
      return;
    IRMapping stepped(at);
    cloneAll(slice_.steps, stepped);
    for (BlockArgument variable : slice_.carried)
      at.map(variable, stepped.lookupOrDefault(loop_.getTiedLoopYieldedValue(variable)->get()));
  }

  void eraseFill() {
    for (Operation *put : ops_.puts)
      put->erase();
    for (Operation *copy : ops_.copies)
      copy->erase();
    for (Operation *load : llvm::reverse(ops_.loads))
      load->erase();
    ops_.acquire.erase();
    ops_.commit.erase();
  }

  scf::ForOp &loop_;
  int64_t ahead_;
  OpBuilder b_;
  Location loc_;
  FillOps ops_;
  Operation *waitOfDot_ = nullptr; ///< the release after that wait, if a dot stays in flight
  AheadSlice slice_;
};

struct PipelineLoops : passes::impl::PipelineLoopsBase<PipelineLoops> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
      if (plan && plan.getStages() > 1)
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(pipeline(loop, gpu::loopPlanOf(loop).getStages())))
        return signalPassFailure();
    if (failed(verifyRings(getOperation())) || failed(verifyPlans(getOperation())))
      signalPassFailure();
  }

  static LogicalResult pipeline(scf::ForOp loop, int32_t stages) {
    SmallVector<gpu::ProducerAcquireOp> rings = ringsOf(loop);
    if (rings.empty())
      return loop.emitError("is scheduled in ")
             << stages << " stages, but its iterations fill no ring";
    int32_t dotsInFlight = 0;
    for (gpu::ProducerAcquireOp acquire : rings) {
      RingPipeliner ring(loop, acquire, stages);
      if (failed(ring.pipeline()))
        return failure();
      dotsInFlight += ring.keepsDotInFlight();
    }
    if (int32_t planned = gpu::loopPlanOf(loop).getDotsInFlight(); planned != dotsInFlight)
      return loop.emitError("is planned with ")
             << planned << " dots in flight, but " << dotsInFlight << " can be";
    return success();
  }
};

} // namespace

} // namespace tile::passes
