// LowerRings: a ring becomes allocations of as many stages, one for each tile of a fill; fill i lies in stage i mod S.
//
//   acquire        nothing if the get before it has let all threads meet, else they meet here
//   copy           an asynchronous copy to the stage: by all threads, or by the copy engine, which one thread asks
//   put            a store to the stage
//   commit         the threads' copies become a group
//   get            a wait for the fill: for the threads' group, and for the engine's bytes at the stage's barrier in shared
//                  memory; unless the engine copied all, the threads meet, behind which the copies of all are seen
//                  (by wgmma only what was fenced before: puts at the commit, threads' copies behind the wait)
//   tiles          nothing: the stage's tiles
//   release        nothing; where groups of warps take turns, or a warp of its own fills the stages, each warp arrives at
//                  the stage's second barrier, for which the thread that fills it again waits: the groups need not go
//                  through an iteration together
//
// How far stages are from the first is carried round the loop that the ring is of, in bytes, since to divide by S and to
// multiply in each iteration would cost more. A ring of one stage that is filled by puts alone needs no wait: PlaceBarriers
// sees its bytes and orders them.
//
// Where the blocks of a cluster carry out one program, and a warp of its own fills the stages, what does not follow from a block's
// rank is copied once: each block's engine copies a share to the memory of all. A stage is filled again when the warps of all
// blocks have released it, and all blocks meet where the barriers are made.
//
// A stage's barrier counts phases: fill i ends phase i / S, and waits tell phases apart by their parity, which is carried,
// too. The barriers are made before the loop and given up behind it, so that a loop that runs again begins at phase 0.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/LayoutAttr.h"
#include "ir/instructions/TensorCopy.h"
#include "ir/layout/SharedAccess.h"
#include "passes/pipelining/PipelineState.h"
#include "passes/pipelining/RingForm.h"
#include "passes/pipelining/RingMemory.h"
#include "passes/pipelining/RingRuns.h"
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
        places_(ring.getRing().getType(), /*derivesFromBarriers=*/!form_.hasProducer), b_(ring) {}

  LogicalResult lower() {
    if (form_.hasTmaCopies)
      memory_.makeBarriers();
    if (stages_ > 1 || form_.hasTmaCopies)
      for (gpu::ConsumerWaitOp get : getsOfLoops(ring_)) {
        auto loop = cast<scf::ForOp>(get->getParentOp());
        std::optional<int64_t> lag =
            form_.warpgroupsRunIndependently ? std::optional(releaseLagOf(loop)) : std::nullopt;
        loop = places_.carryRound(loop, namedFills(get, loop), memory_.strides(),
                                  form_.hasTmaCopies, lag);
        if (form_.isInTurn && lag == 1 && failed(releaseByPasses(loop, get)))
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
  // Do threads hold 16-bit elements as accumulators lie, so that matrices of them are more than the neighbours of a thread?
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

  // Where a product is under way from one iteration to the next each releases the fill before its own.
  int64_t releaseLagOf(scf::ForOp loop) {
    for (auto release : loop.getBody()->getOps<gpu::ConsumerReleaseOp>())
      if (release.getRing() == ring_.getRing() && protocol_.leadOf(release) == -1)
        return 1;
    return 0;
  }

  // A rotated loop gets fill i + 1; what its leading part alone reads is also filled an iteration further ahead.
  NamedFills namedFills(gpu::ConsumerWaitOp get, scf::ForOp loop) {
    NamedFills fills;
    if (protocol_.leadOf(get).value_or(0) == 1)
      fills.newest = 1;
    for (auto acquire : loop.getBody()->getOps<gpu::ProducerAcquireOp>())
      if (acquire.getRing() == ring_.getRing() && protocol_.leadOf(acquire) == stages_)
        fills.oldest = 0;
    return fills;
  }

  // Of passes in turn the first iteration releases nothing, and the end the last fill: its team comes back to it only
  // behind the other's pass. "Fill -1", whose release the first refill waits for, is released by the first team.
  LogicalResult releaseByPasses(scf::ForOp loop, gpu::ConsumerWaitOp get) {
    Location loc = loop.getLoc();
    PassesInTurn passes = *passesInTurn(loop);
    b_.setInsertionPoint(loop);
    auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b_, loc, value, 32); };
    Value team = ir::TeamIdOp::create(b_, loc, b_.getI32Type());
    Value isFirstTeam = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq, team, number(0));
    memory_.arrive(b_, loc, number((stages_ - 1) * gpu::kBarrierBytes), isFirstTeam);
    SmallVector<gpu::DotWaitOp> waits;
    if (passes.end)
      llvm::append_range(waits, passes.end.thenBlock()->getOps<gpu::DotWaitOp>());
    if (waits.empty())
      return loop.emitOpError("ends its passes without waiting for their products");
    b_.setInsertionPointAfter(waits.back());
    memory_.arrive(b_, loc, barrierOf(get, get.getFill()), Value());
    return success();
  }

  // Of passes that have one iteration each the branch that begins them may have been folded.
  Value isNotFirst(scf::ForOp loop) {
    Location loc = loop.getLoc();
    scf::IfOp begin = passesInTurn(loop)->begin;
    Value yes = arith::ConstantIntOp::create(b_, loc, 1, 1);
    Value isFirst = begin ? begin.getCondition() : yes;
    return arith::XOrIOp::create(b_, loc, isFirst, yes);
  }

  // --- Copies by the engine -----------------------------------------------------------------------------------------

  // One thread says how many bytes a fill has and asks for its copies, where the last of them stands.
  LogicalResult lowerTmaCopies() {
    llvm::MapVector<std::pair<Block *, Value>, SmallVector<gpu::RingCopyOp>> fills;
    llvm::SmallDenseSet<uint32_t> parts;
    ring_->getParentOfType<func::FuncOp>().walk([&](gpu::RingCopyOp copy) {
      if (copy.getRing() != ring_.getRing() || !isByTma(copy))
        return;
      fills[{copy->getBlock(), copy.getFill()}].push_back(copy);
      parts.insert(copy.getOperandIndex());
    });
    for (auto &[fill, copies] : fills)
      if (failed(lowerFill(copies, parts.size())))
        return failure();
    return success();
  }

  LogicalResult lowerFill(ArrayRef<gpu::RingCopyOp> copies, size_t parts) {
    gpu::RingCopyOp last = copies.back();
    int64_t bytes = 0;
    for (gpu::RingCopyOp copy : copies) {
      if (copies.size() != parts || copy.getPredicate() != last.getPredicate())
        return copy.emitOpError(
            "must stand beside the other copies of its fill by the copy engine, "
            "under the same condition: they are waited for together");
      gpu::SmemType tile = memory_.tile(copy.getOperandIndex()).getResult().getType();
      std::string why;
      if (!gpu::planTensorCopy(copy, copy.getView(), copy.getShape(), tile, &why))
        return copy.emitOpError("cannot be done by the copy engine: ") << why;
      bytes += ShapedType::getNumElements(tile.getShape()) * gpu::bytesOf(tile.getElementType());
    }
    b_.setInsertionPoint(last);
    Value barrier = barrierOf(last, last.getFill());
    SmallVector<Value> memories;
    for (gpu::RingCopyOp copy : copies)
      memories.push_back(place(copy.getOperandIndex(), copy, copy.getFill()));
    Value parity = memory_.releases() && refills(last)
                       ? places_.parityOfRelease(b_, last->getParentOfType<scf::ForOp>(),
                                                 protocol_.leadOf(last), last.getFill())
                       : Value();
    gpu::ElectOp filler = memory_.inOneThread(
        b_,
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
    filler.setFills(form_.warpgroupsRunIndependently);
    for (gpu::RingCopyOp copy : copies)
      copy.erase();
    return success();
  }

  // Does a copy come in each iteration, to a stage that may still be read? What may not be computed in vain, as a quotient of
  // numbers of run time, has put it into a branch of the loop's body.
  bool refills(gpu::RingCopyOp copy) const {
    Operation *parent = copy->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(isa<scf::IfOp>(parent) ? parent->getParentOp() : parent);
    return isa<scf::ForOp>(parent) || places_.carriesRound(loop);
  }

  // How far the barrier of a fill is from the first.
  Value barrierOf(Operation *step, Value fill) {
    return places_.distance(b_, step->getParentOfType<scf::ForOp>(), protocol_.leadOf(step), fill,
                            gpu::kBarrierBytes);
  }

  // --- Other steps --------------------------------------------------------------------------------------------------

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

  // By matrices where these are more than threads could store at once.
  void lowerPut(gpu::RingPutOp put) {
    Value memory = place(put.getOperandIndex(), put, put.getFill());
    auto tile = cast<RankedTensorType>(put.getValue().getType());
    auto type = cast<gpu::SmemType>(memory.getType());
    gpu::SmemStoreOp::create(b_, put.getLoc(), put.getValue(), memory, /*first_holder=*/false,
                             form_.isReadByWgmma && takesMatrices(tile, type));
  }

  void lowerCopy(gpu::RingCopyOp copy) {
    auto async = gpu::CopyAsyncOp::create(b_, copy.getLoc(), copy.getView(), copy.getOffsets(),
                                          place(copy.getOperandIndex(), copy, copy.getFill()),
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
    if (form_.isInTurn && protocol_.leadOf(release) == -1)
      predicate = isNotFirst(loop);
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
      Value parity = places_.parity(b_, loop, protocol_.leadOf(get), get.getFill());
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
      tile.replaceAllUsesWith(place(i, op, op.getFill()));
  }

  // The tile number `part` of the fill that an operation is on.
  Value place(size_t part, Operation *step, Value fill) {
    if (stages_ == 1)
      return memory_.tile(part);
    Value distance =
        places_.distance(b_, step->getParentOfType<scf::ForOp>(), protocol_.leadOf(step), fill,
                         memory_.tile(part).getStageStride());
    return gpu::SmemStageOp::create(b_, step->getLoc(), memory_.tile(part), distance);
  }

  gpu::RingAllocOp ring_;
  const RingProtocol &protocol_;
  int32_t stages_;
  RingForm form_;
  RingMemory memory_;
  llvm::DenseSet<Operation *> awaited_;
  PipelineState places_;
  OpBuilder b_;
};

// A turn is taken before anything is waited for.
void takeTurnsFirst(scf::ForOp loop) {
  std::optional<PassesInTurn> passes = passesInTurn(loop);
  if (!passes || !passes->begin)
    return;
  passes->begin->moveBefore(&loop.getBody()->front());
  passes->begin.getCondition().getDefiningOp()->moveBefore(passes->begin);
}

struct LowerRings : passes::impl::LowerRingsBase<LowerRings> {
  void runOnOperation() final {
    SmallVector<gpu::RingAllocOp> rings;
    getOperation().walk([&](gpu::RingAllocOp ring) { rings.push_back(ring); });
    if (rings.empty())
      return tellOfCluster();
    RingProtocol protocol(getOperation());
    if (!protocol.isValid())
      return signalPassFailure();
    getOperation().walk(takeTurnsFirst);
    for (gpu::RingAllocOp ring : rings)
      if (failed(RingLowering(ring, protocol).lower()))
        return signalPassFailure();
    tellOfCluster();
    // The length of passes has been told.
    getOperation().walk([](gpu::OrderArriveOp turn) { turn.getIterationsMutable().clear(); });
  }

  void tellOfCluster() {
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
          "a warp of its own is the same in all blocks");
  }
};

} // namespace

} // namespace tile::passes
