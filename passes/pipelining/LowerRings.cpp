// LowerRings: a ring becomes allocations in shared memory, S stages per operand; fill i has stage i
// mod S.
//
//   producer_acquire   nothing if all threads have synchronized at the consumer_wait before, else
//                      they do here; if warpgroups run independently, the thread that issues TMA
//                      waits at the stage's *empty*
//   ring_copy          an asynchronous copy: cp.async by all threads, or TMA, issued by one thread
//   ring_put           a store to the stage
//   producer_commit    ends the group of the threads' copies
//   consumer_wait      waits for the threads' group, and at the stage's *full* for the bytes of
//                      TMA; unless TMA copied all, the threads synchronize, so that each sees the
//                      copies of all. For wgmma a proxy fence comes before that: at the commit
//                      for puts, here for threads' copies
//   ring_tiles         names the stage's tiles again
//   consumer_release   nothing; if warpgroups run independently, one arrival per warp at the
//                      stage's *empty*
//
// A ring of one stage that is filled by puts alone needs no synchronization here: PlaceBarriers
// sees its bytes and orders them.
#include "passes/Passes.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/instructions/TensorCopy.h"
#include "ir/layout/SharedAccess.h"
#include "passes/pipelining/PipelineState.h"
#include "passes/pipelining/RingForm.h"
#include "passes/pipelining/RingMemory.h"
#include "passes/pipelining/RingRuns.h"
#include "passes/pipelining/analysis/LoopPlans.h"
#include "passes/pipelining/analysis/RingProtocol.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace tile::passes {
#define GEN_PASS_DEF_LOWERRINGS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

class RingLowering {
public:
  RingLowering(gpu::RingAllocOp ring, const RingProtocol &protocol)
      : ring_(ring), protocol_(protocol), stages_(ring.getRing().getType().getStages()),
        form_(ring), memory_(ring, form_), awaited_(awaitedReleases(ring)),
        states_(ring.getRing().getType(), /*derivesFromBarriers=*/!form_.hasProducer), b_(ring) {}

  LogicalResult lower() {
    if (form_.hasTmaCopies)
      memory_.initializeBarriers();
    if (stages_ > 1 || form_.hasTmaCopies)
      for (gpu::ConsumerWaitOp get : waitsOfLoops(ring_)) {
        auto loop = cast<scf::ForOp>(get->getParentOp());
        std::optional<int64_t> lag =
            form_.warpgroupsRunIndependently ? std::optional(releaseLagOf(loop)) : std::nullopt;
        loop = states_.carryThrough(loop, namedFills(get, loop), memory_.strides(),
                                    form_.hasTmaCopies, lag);
        if (form_.isPingPong && lag == 1 && failed(releaseInEpilogues(loop, get)))
          return failure();
      }
    if (failed(lowerTmaCopies()))
      return failure();
    for (Operation *user : llvm::make_early_inc_range(ring_->getUsers())) {
      b_.setInsertionPoint(user);
      if (failed(lower(user)))
        return failure();
      user->erase();
    }
    ring_.erase();
    return success();
  }

private:
  // `stmatrix` pays if it stores more 16-bit elements at once than a vector would, as it does from
  // the layout of an accumulator.
  static bool takesMatrices(RankedTensorType tile, gpu::SmemType memory) {
    constexpr int kBytes = 2, kVector = 16 / kBytes;
    if (gpu::bytesOf(tile.getElementType()) != kBytes)
      return false;
    layout::Layout held = gpu::layoutOf(tile);
    layout::SharedLayout shared = gpu::sharedOf(memory);
    auto matrices = layout::matchMatrixAccess(held, shared, kBytes);
    return matrices && matrices->elementsPerMatrix == 2 &&
           layout::vectorGroups(held, shared, kBytes).front().size() < kVector;
  }

  // A dot in flight across the back edge makes the iteration release the fill before its own.
  int64_t releaseLagOf(scf::ForOp loop) {
    for (auto release : loop.getBody()->getOps<gpu::ConsumerReleaseOp>())
      if (release.getRing() == ring_.getRing() && protocol_.leadOf(release) == -1)
        return 1;
    return 0;
  }

  // The leading part of a skewed loop waits for fill i + 1; a ring that it alone reads is also
  // refilled one iteration further ahead.
  NamedFills namedFills(gpu::ConsumerWaitOp get, scf::ForOp loop) {
    NamedFills fills;
    if (protocol_.leadOf(get).value_or(0) == 1)
      fills.newest = 1;
    for (auto acquire : loop.getBody()->getOps<gpu::ProducerAcquireOp>())
      if (acquire.getRing() == ring_.getRing() && protocol_.leadOf(acquire) == stages_)
        fills.oldest = 0;
    return fills;
  }

  // Ping-pong: an iteration releases the *previous* fill, so the first step of a tile releases
  // nothing and the tile's epilogue releases the last fill: its team returns to the ring only after
  // the other's tile. "Fill -1", for whose release the first refill waits, is released by team 0.
  LogicalResult releaseInEpilogues(scf::ForOp loop, gpu::ConsumerWaitOp wait) {
    Location loc = loop.getLoc();
    PingPongTiles tiles = *pingPongTilesOf(loop);
    b_.setInsertionPoint(loop);
    auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b_, loc, value, 32); };
    Value team = ir::TeamIdOp::create(b_, loc, b_.getI32Type());
    Value isFirstTeam = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq, team, number(0));
    memory_.arrive(b_, loc, number((stages_ - 1) * gpu::kBarrierBytes), isFirstTeam);
    SmallVector<gpu::DotWaitOp> dotWaits;
    if (tiles.epilogue)
      llvm::append_range(dotWaits, tiles.epilogue.thenBlock()->getOps<gpu::DotWaitOp>());
    if (dotWaits.empty())
      return loop.emitOpError("ends its tiles without waiting for their dots");
    b_.setInsertionPointAfter(dotWaits.back());
    memory_.arrive(b_, loc, barrierOf(wait, wait.getFill()), Value());
    return success();
  }

  // If tiles have one step each, `begin` may have been folded into the body: every step is a first
  // one.
  Value isNotFirstStep(scf::ForOp loop) {
    Location loc = loop.getLoc();
    scf::IfOp begin = pingPongTilesOf(loop)->begin;
    Value yes = arith::ConstantIntOp::create(b_, loc, 1, 1);
    Value isFirst = begin ? begin.getCondition() : yes;
    return arith::XOrIOp::create(b_, loc, isFirst, yes);
  }

  // One thread issues all copies of a fill after one `mbarrier_expect`, where the last copy stands:
  // *full* counts one arrival and the bytes of all.
  LogicalResult lowerTmaCopies() {
    llvm::MapVector<std::pair<Block *, Value>, SmallVector<gpu::RingCopyOp>> fills;
    llvm::SmallDenseSet<uint32_t> operands;
    ring_->getParentOfType<func::FuncOp>().walk([&](gpu::RingCopyOp copy) {
      if (copy.getRing() != ring_.getRing() || !isByTma(copy))
        return;
      fills[{copy->getBlock(), copy.getFill()}].push_back(copy);
      operands.insert(copy.getOperandIndex());
    });
    for (auto &[fill, copies] : fills)
      if (failed(lowerFill(copies, operands.size())))
        return failure();
    return success();
  }

  LogicalResult lowerFill(ArrayRef<gpu::RingCopyOp> copies, size_t operands) {
    gpu::RingCopyOp last = copies.back();
    int64_t bytes = 0;
    for (gpu::RingCopyOp copy : copies) {
      if (copies.size() != operands || copy.getPredicate() != last.getPredicate())
        return copy.emitOpError("must stand beside the other TMA copies of its fill, under the "
                                "same condition: they are "
                                "waited for together");
      gpu::SmemType tile = memory_.tile(copy.getOperandIndex()).getResult().getType();
      Refusal why;
      if (!gpu::planTensorCopy(copy, copy.getView(), copy.getShape(), tile, &why))
        return copy.emitOpError("cannot be done by TMA: ") << *why;
      bytes += ShapedType::getNumElements(tile.getShape()) * gpu::bytesOf(tile.getElementType());
    }
    b_.setInsertionPoint(last);
    Value barrier = barrierOf(last, last.getFill());
    SmallVector<Value> memories;
    for (gpu::RingCopyOp copy : copies)
      memories.push_back(tileOf(copy.getOperandIndex(), copy, copy.getFill()));
    Value parity = memory_.releases() && refills(last)
                       ? states_.emptyParity(b_, last->getParentOfType<scf::ForOp>(),
                                             protocol_.leadOf(last), last.getFill())
                       : Value();
    memory_.inOneThread(
        b_, form_.warpgroupsRunIndependently ? gpu::Scope::Block : memory_.scope(),
        [&] {
          if (parity)
            gpu::MbarrierWaitOp::create(b_, last.getLoc(), memory_.releases(), barrier, parity);
          gpu::MbarrierExpectOp::create(b_, last.getLoc(), memory_.barriers(), barrier,
                                        static_cast<uint32_t>(bytes));
          for (auto [each, memory] : llvm::zip_equal(copies, memories)) {
            gpu::RingCopyOp copy = each;
            auto async = gpu::TensorCopyOp::create(
                b_, copy.getLoc(), copy.getView(), copy.getOffsets(), memory, memory_.barriers(),
                barrier, copy.getShape(), form_.shared.contains(copy));
            async->setDiscardableAttrs(copy->getDiscardableAttrDictionary());
          }
        },
        last.getPredicate());
    for (gpu::RingCopyOp copy : copies)
      copy.erase();
    return success();
  }

  // Does the copy execute per iteration, into a stage that may still be read (not in the prologue)?
  // It stands in a branch of the body if its operands must not be computed speculatively, such as a
  // quotient of run-time numbers.
  bool refills(gpu::RingCopyOp copy) const {
    Operation *parent = copy->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(isa<scf::IfOp>(parent) ? parent->getParentOp() : parent);
    return isa<scf::ForOp>(parent) || states_.carriesThrough(loop);
  }

  Value barrierOf(Operation *step, Value fill) {
    return states_.offset(b_, step->getParentOfType<scf::ForOp>(), protocol_.leadOf(step), fill,
                          gpu::kBarrierBytes);
  }

  LogicalResult lower(Operation *user) {
    if (auto put = dyn_cast<gpu::RingPutOp>(user))
      lowerPut(put);
    else if (auto copy = dyn_cast<gpu::RingCopyOp>(user))
      lowerCopy(copy);
    else if (auto get = dyn_cast<gpu::ConsumerWaitOp>(user))
      lowerGet(get);
    else if (auto tiles = dyn_cast<gpu::RingTilesOp>(user))
      replaceTiles(tiles);
    else if (isa<gpu::ProducerCommitOp>(user))
      lowerCommit(user->getLoc());
    else if (auto acquire = dyn_cast<gpu::ProducerAcquireOp>(user))
      lowerAcquire(acquire);
    else if (auto release = dyn_cast<gpu::ConsumerReleaseOp>(user))
      lowerRelease(release);
    else
      return user->emitOpError("is not an operation on rings that this pass knows");
    return success();
  }

  void lowerPut(gpu::RingPutOp put) {
    Value memory = tileOf(put.getOperandIndex(), put, put.getFill());
    auto tile = cast<RankedTensorType>(put.getValue().getType());
    auto type = cast<gpu::SmemType>(memory.getType());
    gpu::SmemStoreOp::create(b_, put.getLoc(), put.getValue(), memory, /*first_holder=*/false,
                             form_.isReadByWgmma && takesMatrices(tile, type));
  }

  void lowerCopy(gpu::RingCopyOp copy) {
    auto async = gpu::CopyAsyncOp::create(b_, copy.getLoc(), copy.getView(), copy.getOffsets(),
                                          tileOf(copy.getOperandIndex(), copy, copy.getFill()),
                                          copy.getPredicate(), copy.getShape());
    async->setDiscardableAttrs(copy->getDiscardableAttrDictionary());
  }

  void lowerAcquire(gpu::ProducerAcquireOp acquire) {
    if (protocol_.needsBarrierAt(acquire) && !form_.warpgroupsRunIndependently)
      gpu::BarrierOp::create(b_, acquire.getLoc(), "what all threads have read may be overwritten");
  }

  void lowerCommit(Location loc) {
    if (form_.hasThreadCopies)
      gpu::AsyncCommitOp::create(b_, loc);
    if (form_.hasPuts && form_.isReadByWgmma)
      gpu::ProxyFenceOp::create(b_, loc);
  }

  void lowerRelease(gpu::ConsumerReleaseOp release) {
    auto loop = dyn_cast<scf::ForOp>(release->getParentOp());
    if (!memory_.releases() || !awaited_.contains(release))
      return;
    Value predicate;
    if (form_.isPingPong && protocol_.leadOf(release) == -1)
      predicate = isNotFirstStep(loop);
    memory_.arrive(b_, release.getLoc(), barrierOf(release, release.getFill()), predicate);
  }

  void lowerGet(gpu::ConsumerWaitOp get) {
    Location loc = get.getLoc();
    if (form_.hasThreadCopies)
      gpu::AsyncWaitOp::create(b_, loc, protocol_.laterFills(get));
    if (form_.hasThreadCopies && form_.isReadByWgmma)
      gpu::ProxyFenceOp::create(b_, loc);
    if (form_.hasTmaCopies) {
      auto loop = get->getParentOfType<scf::ForOp>();
      Value parity = states_.fullParity(b_, loop, protocol_.leadOf(get), get.getFill());
      gpu::MbarrierWaitOp::create(b_, loc, memory_.barriers(), barrierOf(get, get.getFill()),
                                  parity);
    }
    if (form_.hasThreadCopies || (form_.hasPuts && stages_ > 1))
      gpu::BarrierOp::create(
          b_, loc, "what all threads copied arrives, and what they have read may be overwritten");
    replaceTiles(get);
  }

  template <class Op> void replaceTiles(Op op) {
    for (auto [i, tile] : llvm::enumerate(op.getTiles()))
      tile.replaceAllUsesWith(tileOf(i, op, op.getFill()));
  }

  Value tileOf(size_t operand, Operation *step, Value fill) {
    if (stages_ == 1)
      return memory_.tile(operand);
    Value offset = states_.offset(b_, step->getParentOfType<scf::ForOp>(), protocol_.leadOf(step),
                                  fill, memory_.tile(operand).getStageStride());
    return gpu::SmemStageOp::create(b_, step->getLoc(), memory_.tile(operand), offset);
  }

  gpu::RingAllocOp ring_;
  const RingProtocol &protocol_;
  int32_t stages_;
  RingForm form_;
  RingMemory memory_;
  llvm::DenseSet<Operation *> awaited_;
  PipelineStates states_;
  OpBuilder b_;
};

// NestLoops takes the ordered barrier out of the inner loop only if nothing with effects stands
// before it.
void waitForTurnFirst(scf::ForOp loop) {
  std::optional<PingPongTiles> tiles = pingPongTilesOf(loop);
  if (!tiles || !tiles->begin)
    return;
  tiles->begin->moveBefore(&loop.getBody()->front());
  if (Operation *isFirst = tiles->begin.getCondition().getDefiningOp();
      isFirst && loop->isProperAncestor(isFirst))
    isFirst->moveBefore(tiles->begin);
}

struct LowerRings : passes::impl::LowerRingsBase<LowerRings> {
  void runOnOperation() final {
    SmallVector<gpu::RingAllocOp> rings;
    getOperation().walk([&](gpu::RingAllocOp ring) { rings.push_back(ring); });
    if (rings.empty())
      return remarkIfClusterUnused();
    if (failed(verifyPlans(getOperation())))
      return signalPassFailure();
    RingProtocol protocol(getOperation());
    if (!protocol.isValid())
      return signalPassFailure();
    getOperation().walk(waitForTurnFirst);
    for (gpu::RingAllocOp ring : rings)
      if (failed(RingLowering(ring, protocol).lower()))
        return signalPassFailure();
    remarkIfClusterUnused();
    // Only the skip of fills needs the trip count, which would take a register to the end of the
    // kernel.
    getOperation().walk([](gpu::OrderArriveOp arrive) { arrive.getTripCountMutable().clear(); });
  }

  void remarkIfClusterUnused() {
    bool isOfUse = getOperation()
                       .walk([](Operation *op) {
                         auto copy = dyn_cast<gpu::TensorCopyOp>(op);
                         bool shares = (copy && copy.getMulticast()) || isa<ir::ClusterSumOp>(op);
                         return shares ? WalkResult::interrupt() : WalkResult::advance();
                       })
                       .wasInterrupted();
    if (ir::clusterOf(getOperation()) > 1 && !isOfUse)
      getOperation().emitRemark(
          "cluster: each block loads all that it needs: no load of a loop with "
          "a producer warp is the same in all blocks");
  }
};

} // namespace

} // namespace tile::passes
