// LowerRings: a ring becomes allocations of as many slots, one for each tile of a fill; fill i lies in slot i mod S.
//
//   acquire        nothing if the get before it has let all threads meet, else they meet here
//   copy           an asynchronous copy to the slot: by all threads, or by the copy engine, which one thread asks
//   put            a store to the slot
//   commit         the threads' copies become a group
//   get            a wait for the fill: for the threads' group, and for the engine's bytes at the slot's barrier in shared
//                  memory; unless the engine copied all, the threads meet, behind which the copies of all are seen
//                  (by wgmma only what was fenced before: puts at the commit, threads' copies behind the wait)
//   tiles          nothing: the slot's tiles
//   release        nothing; where groups of warps take turns, or a warp of its own fills the slots, each warp arrives at
//                  the slot's second barrier, for which the thread that fills it again waits: the groups need not go
//                  through an iteration together
//
// How far slots are from the first is carried round the loop that the ring is of, in bytes, since to divide by S and to
// multiply in each iteration would cost more. A ring of one slot that is filled by puts alone needs no wait: PlaceBarriers
// sees its bytes and orders them.
//
// Where the blocks of a cluster carry out one program, and a warp of its own fills the slots, what does not follow from a block's
// rank is copied once: each block's engine copies a share to the memory of all. A slot is filled again when the warps of all
// blocks have released it, and all blocks meet where the barriers are made.
//
// A slot's barrier counts phases: fill i ends phase i / S, and waits tell phases apart by their parity, which is carried,
// too. The barriers are made before the loop and given up behind it, so that a loop that runs again begins at phase 0.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/LayoutAttr.h"
#include "ir/TensorCopy.h"
#include "ir/layout/SharedAccess.h"
#include "ir/layout/WgmmaOperand.h"
#include "passes/analysis/ClusterRank.h"
#include "passes/analysis/RingProtocol.h"
#include "passes/staging/FillPlaces.h"
#include "passes/staging/RingRuns.h"
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
      : ring_(ring), protocol_(protocol), slots_(ring.getRing().getType().getSlots()),
        awaited_(awaitedReleases(ring)),
        places_(ring.getRing().getType(), /*derivesFromBarriers=*/!isFilledByProducer()), b_(ring) {
    auto any = [&](auto is) { return llvm::any_of(ring->getUsers(), is); };
    hasCopiesByThreads_ =
        any([](Operation *user) { return isa<gpu::RingCopyOp>(user) && !isByEngine(user); });
    hasCopiesByEngine_ = any([](Operation *user) { return isByEngine(user); });
    hasPuts_ = any([](Operation *user) { return isa<gpu::RingPutOp>(user); });
    isReadByWgmma_ = any([](Operation *user) {
      return llvm::any_of(user->getUsers(),
                          [](Operation *reader) { return isa<gpu::DotAsyncOp>(reader); });
    });
    groupsDrift_ = mayGroupsDrift();
    isOfBlock_ = ir::teamsOf(ring) > 1 && groupsDrift_ && isFilledByProducer();
    isInTurn_ = isOfBlock_ && llvm::any_of(getsOfLoops(), [](gpu::RingGetOp get) {
                  return passesInTurn(cast<scf::ForOp>(get->getParentOp()));
                });
    isReadByThreads_ = isReadByThreads();
    if (ir::clusterOf(ring) > 1 && groupsDrift_ && isFilledByProducer())
      findShared();
  }

  LogicalResult lower() {
    allocate();
    if (hasCopiesByEngine_)
      makeBarriers();
    if (slots_ > 1 || hasCopiesByEngine_)
      for (gpu::RingGetOp get : getsOfLoops()) {
        auto loop = cast<scf::ForOp>(get->getParentOp());
        std::optional<int64_t> lag =
            groupsDrift_ ? std::optional(releaseLagOf(loop)) : std::nullopt;
        loop = places_.carryRound(loop, namedFills(get, loop), strides(), hasCopiesByEngine_, lag);
        if (isInTurn_ && lag == 1 && failed(releaseByPasses(loop, get)))
          return failure();
      }
    if (failed(lowerCopiesByEngine()))
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
  static bool isByEngine(Operation *op) {
    return isa<gpu::RingCopyOp>(op) && gpu::variantOf(op) == gpu::VariantKind::Tma;
  }

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

  // Where groups of warps take turns no barrier of all threads may hold them together, and none holds a warp that only
  // fills. What the engine fills needs none.
  bool mayGroupsDrift() {
    auto isFilledInTurns = [&](Operation *user) {
      auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
      return loop && isa<gpu::RingAcquireOp>(user) &&
             !loop.getBody()->getOps<gpu::TakeTurnOp>().empty();
    };
    return isFilledByEngine(ring_) &&
           (isFilledByProducer() || llvm::any_of(ring_->getUsers(), isFilledInTurns));
  }

  // By a warp that does nothing else. Teams have such a ring in common: what it is filled with does not depend on them.
  bool isFilledByProducer() {
    return llvm::any_of(ring_->getUsers(), [&](Operation *user) {
      auto loop = dyn_cast<scf::ForOp>(user->getParentOp());
      gpu::ScheduleAttr schedule =
          loop && isa<gpu::RingAcquireOp>(user) ? gpu::scheduleOf(loop) : gpu::ScheduleAttr();
      return schedule && schedule.getSpecialized() && slots_ > 1;
    });
  }

  // What all blocks of the cluster copy, and can cut in as many parts. None if they do not fill the ring at once and as often.
  void findShared() {
    RankDependence ranks(ring_->getParentOfType<func::FuncOp>());
    llvm::DenseSet<Operation *> shared;
    for (Operation *user : ring_->getUsers()) {
      auto copy = dyn_cast<gpu::RingCopyOp>(user);
      bool isAsOften = ranks.isInAllBlocks(user) &&
                       !(copy && copy.getPredicate() && ranks.follows(copy.getPredicate()));
      if (!isAsOften)
        return;
      bool isSame = copy && llvm::none_of(copy->getOperands(),
                                          [&](Value value) { return ranks.follows(value); });
      if (isSame && canBeCut(copy))
        shared.insert(copy);
    }
    SmallVector<RingRun> runs = runsOf(ring_);
    if (runs.size() == 1 && isOnceAtMost(runs.front().first))
      shared_ = std::move(shared);
  }

  bool canBeCut(gpu::RingCopyOp copy) {
    gpu::SmemType tile = ring_.getRing().getType().getTiles()[copy.getPart()];
    auto plan = gpu::planTensorCopy(copy, copy.getView(), copy.getShape(), tile);
    return plan && gpu::shareOf(*plan, tile, ir::clusterOf(ring_));
  }

  bool isOfCluster() const { return !shared_.empty(); }

  // Do threads read slots, not products by wgmma alone?
  bool isReadByThreads() {
    auto readsItself = [](Operation *reader) { return !isa<gpu::DotAsyncOp>(reader); };
    return llvm::any_of(ring_->getUsers(), [&](Operation *user) {
      return isa<gpu::RingGetOp, gpu::RingTilesOp>(user) &&
             llvm::any_of(user->getUsers(), readsItself);
    });
  }

  // Where a product is under way from one iteration to the next each releases the fill before its own.
  int64_t releaseLagOf(scf::ForOp loop) {
    for (auto release : loop.getBody()->getOps<gpu::RingReleaseOp>())
      if (release.getRing() == ring_.getRing() && protocol_.leadOf(release) == -1)
        return 1;
    return 0;
  }

  // A rotated loop gets fill i + 1; what its leading part alone reads is also filled an iteration further ahead.
  NamedFills namedFills(gpu::RingGetOp get, scf::ForOp loop) {
    NamedFills fills;
    if (protocol_.leadOf(get).value_or(0) == 1)
      fills.newest = 1;
    for (auto acquire : loop.getBody()->getOps<gpu::RingAcquireOp>())
      if (acquire.getRing() == ring_.getRing() && protocol_.leadOf(acquire) == slots_)
        fills.oldest = 0;
    return fills;
  }

  // --- Memory -------------------------------------------------------------------------------------------------------

  void allocate() {
    bool hasPattern = isReadByWgmma_ || hasCopiesByEngine_;
    for (gpu::SmemType tile : ring_.getRing().getType().getTiles()) {
      memories_.push_back(
          gpu::SmemAllocOp::create(b_, ring_.getLoc(), tile, slots_,
                                   hasPattern ? layout::kWgmmaAlignment : gpu::kSharedAlignment));
      memories_.back().setOfBlock(isOfBlock_);
    }
    if (!hasCopiesByEngine_)
      return;
    barriers_ = allocateBarriers();
    if (groupsDrift_)
      releases_ = allocateBarriers();
  }

  gpu::SmemAllocOp allocateBarriers() {
    auto row = gpu::attributeOf(b_.getContext(), layout::SharedLayout::rowMajor({slots_}, {0}));
    auto barriers = gpu::SmemAllocOp::create(
        b_, ring_.getLoc(), gpu::SmemType::get(b_.getContext(), {slots_}, b_.getI64Type(), row));
    barriers.setOfBlock(isOfBlock_);
    return barriers;
  }

  SmallVector<int64_t> strides() {
    SmallVector<int64_t> strides;
    for (gpu::SmemAllocOp memory : memories_)
      strides.push_back(memory.getSlotStride());
    if (barriers_)
      strides.push_back(gpu::kBarrierBytes);
    return strides;
  }

  // The barriers are made for each run of fills: phases begin at 0. What was written to the slots' memory before is seen
  // before the engine writes there. Of one run nothing has their memory after it.
  void makeBarriers() {
    SmallVector<RingRun> runs = runsOf(ring_);
    Location loc = ring_.getLoc();
    bool isOnly = runs.size() == 1 && isOnceAtMost(runs.front().first);
    for (RingRun run : runs) {
      gpu::BarrierOp other = meetingBefore(run);
      bool servesBoth =
          other && other.getBeforeFills() == groupsDrift_ && other.getOfCluster() == isOfCluster();
      b_.setInsertionPoint(servesBoth ? other->getPrevNode() : run.first); // before its fence
      inOneThread([&] {
        gpu::MbarrierInitOp::create(b_, loc, barriers_, 1);
        if (releases_)
          gpu::MbarrierInitOp::create(
              b_, loc, releases_,
              static_cast<uint32_t>(ir::warpsOf(ring_) *
                                    (isOfBlock_ && !isInTurn_ ? ir::teamsOf(ring_) : 1) *
                                    (isOfCluster() ? ir::clusterOf(ring_) : 1)));
      });
      if (!servesBoth)
        meet();
      if (isOnly)
        return;
      b_.setInsertionPointAfter(run.last);
      inOneThread([&] {
        gpu::MbarrierInvalOp::create(b_, loc, barriers_);
        if (releases_)
          gpu::MbarrierInvalOp::create(b_, loc, releases_);
      });
    }
  }

  void meet() {
    gpu::ProxyFenceOp::create(b_, ring_.getLoc());
    auto made = gpu::BarrierOp::create(b_, ring_.getLoc(), "the slots' barriers are made");
    made.setBeforeFills(groupsDrift_);
    made.setOfCluster(isOfCluster());
  }

  // Of passes in turn the first iteration releases nothing, and the end the last fill: its team comes back to it only
  // behind the other's pass. "Fill -1", whose release the first refill waits for, is released by the first team.
  LogicalResult releaseByPasses(scf::ForOp loop, gpu::RingGetOp get) {
    Location loc = loop.getLoc();
    PassesInTurn passes = *passesInTurn(loop);
    b_.setInsertionPoint(loop);
    auto number = [&](int64_t value) { return arith::ConstantIntOp::create(b_, loc, value, 32); };
    Value team = ir::TeamIdOp::create(b_, loc, b_.getI32Type());
    Value isFirstTeam = arith::CmpIOp::create(b_, loc, arith::CmpIPredicate::eq, team, number(0));
    arrive(loc, number((slots_ - 1) * gpu::kBarrierBytes), isFirstTeam);
    SmallVector<gpu::DotWaitOp> waits;
    if (passes.end)
      llvm::append_range(waits, passes.end.thenBlock()->getOps<gpu::DotWaitOp>());
    if (waits.empty())
      return loop.emitOpError("ends its passes without waiting for their products");
    b_.setInsertionPointAfter(waits.back());
    arrive(loc, barrierOf(get, get.getFill()), Value());
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

  void arrive(Location loc, Value distance, Value predicate) {
    gpu::MbarrierArriveOp::create(b_, loc, releases_, distance, predicate, isReadByThreads_,
                                  isOfCluster());
  }

  // Is an operation carried out no more often than the ring is made?
  bool isOnceAtMost(Operation *op) {
    while (op->getBlock() != ring_->getBlock())
      if (op = op->getParentOp(); !isa<scf::IfOp>(op))
        return false;
    return true;
  }

  gpu::ElectOp inOneThread(llvm::function_ref<void()> make, Value predicate = {}) {
    auto elect = gpu::ElectOp::create(b_, ring_.getLoc(), predicate);
    elect.setOfBlock(isOfBlock_);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(&elect.getBody().front());
    make();
    return elect;
  }

  // --- Copies by the engine -----------------------------------------------------------------------------------------

  // One thread says how many bytes a fill has and asks for its copies, where the last of them stands.
  LogicalResult lowerCopiesByEngine() {
    llvm::MapVector<std::pair<Block *, Value>, SmallVector<gpu::RingCopyOp>> fills;
    llvm::SmallDenseSet<uint32_t> parts;
    ring_->getParentOfType<func::FuncOp>().walk([&](gpu::RingCopyOp copy) {
      if (copy.getRing() != ring_.getRing() || !isByEngine(copy))
        return;
      fills[{copy->getBlock(), copy.getFill()}].push_back(copy);
      parts.insert(copy.getPart());
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
      gpu::SmemType tile = memories_[copy.getPart()].getResult().getType();
      std::string why;
      if (!gpu::planTensorCopy(copy, copy.getView(), copy.getShape(), tile, &why))
        return copy.emitOpError("cannot be done by the copy engine: ") << why;
      bytes += ShapedType::getNumElements(tile.getShape()) * gpu::bytesOf(tile.getElementType());
    }
    b_.setInsertionPoint(last);
    Value barrier = barrierOf(last, last.getFill());
    SmallVector<Value> memories;
    for (gpu::RingCopyOp copy : copies)
      memories.push_back(place(copy.getPart(), copy, copy.getFill()));
    Value parity = releases_ && isa<scf::ForOp>(last->getParentOp())
                       ? places_.parityOfRelease(b_, last->getParentOfType<scf::ForOp>(),
                                                 protocol_.leadOf(last), last.getFill())
                       : Value();
    gpu::ElectOp filler = inOneThread(
        [&] {
          if (parity)
            gpu::MbarrierWaitOp::create(b_, last.getLoc(), releases_, barrier, parity);
          gpu::MbarrierExpectOp::create(b_, last.getLoc(), barriers_, barrier,
                                        static_cast<uint32_t>(bytes));
          for (auto [each, memory] : llvm::zip_equal(copies, memories)) {
            gpu::RingCopyOp copy = each;
            auto async = gpu::TensorCopyOp::create(b_, copy.getLoc(), copy.getView(),
                                                   copy.getOffsets(), memory, barriers_, barrier,
                                                   copy.getShape(), shared_.contains(copy));
            async->setDiscardableAttrs(copy->getDiscardableAttrDictionary());
          }
        },
        last.getPredicate());
    filler.setFills(groupsDrift_);
    for (gpu::RingCopyOp copy : copies)
      copy.erase();
    return success();
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
    else if (auto get = dyn_cast<gpu::RingGetOp>(user))
      lowerGet(get);
    else if (auto tiles = dyn_cast<gpu::RingTilesOp>(user))
      replaceTiles(tiles);
    else if (isa<gpu::RingCommitOp>(user))
      lowerCommit(user->getLoc());
    else if (auto acquire = dyn_cast<gpu::RingAcquireOp>(user))
      lowerAcquire(acquire);
    else if (auto release = dyn_cast<gpu::RingReleaseOp>(user))
      lowerRelease(release);
    else
      return user->emitOpError("is not an operation on rings that this pass knows");
    return success();
  }

  // By matrices where these are more than threads could store at once.
  void lowerPut(gpu::RingPutOp put) {
    Value memory = place(put.getPart(), put, put.getFill());
    auto tile = cast<RankedTensorType>(put.getValue().getType());
    auto type = cast<gpu::SmemType>(memory.getType());
    gpu::SmemStoreOp::create(b_, put.getLoc(), put.getValue(), memory, /*first_holder=*/false,
                             isReadByWgmma_ && takesMatrices(tile, type));
  }

  void lowerCopy(gpu::RingCopyOp copy) {
    auto async = gpu::CopyAsyncOp::create(b_, copy.getLoc(), copy.getView(), copy.getOffsets(),
                                          place(copy.getPart(), copy, copy.getFill()),
                                          copy.getPredicate(), copy.getShape());
    async->setDiscardableAttrs(copy->getDiscardableAttrDictionary());
  }

  void lowerAcquire(gpu::RingAcquireOp acquire) {
    if (protocol_.mustMeetAt(acquire) && !groupsDrift_)
      gpu::BarrierOp::create(b_, acquire.getLoc(), "what all threads have read may be overwritten");
  }

  void lowerCommit(Location loc) {
    if (hasCopiesByThreads_)
      gpu::AsyncCommitOp::create(b_, loc);
    if (hasPuts_ && isReadByWgmma_)
      gpu::ProxyFenceOp::create(b_, loc);
  }

  void lowerRelease(gpu::RingReleaseOp release) {
    auto loop = dyn_cast<scf::ForOp>(release->getParentOp());
    if (!releases_ || !awaited_.contains(release))
      return;
    Value predicate;
    if (isInTurn_ && protocol_.leadOf(release) == -1)
      predicate = isNotFirst(loop);
    arrive(release.getLoc(), barrierOf(release, release.getFill()), predicate);
  }

  void lowerGet(gpu::RingGetOp get) {
    Location loc = get.getLoc();
    if (hasCopiesByThreads_)
      gpu::AsyncWaitOp::create(b_, loc, protocol_.laterFills(get));
    if (hasCopiesByThreads_ && isReadByWgmma_)
      gpu::ProxyFenceOp::create(b_, loc);
    if (hasCopiesByEngine_) {
      auto loop = get->getParentOfType<scf::ForOp>();
      Value parity = places_.parity(b_, loop, protocol_.leadOf(get), get.getFill());
      gpu::MbarrierWaitOp::create(b_, loc, barriers_, barrierOf(get, get.getFill()), parity);
    }
    if (hasCopiesByThreads_ || (hasPuts_ && slots_ > 1))
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
    if (slots_ == 1)
      return memories_[part];
    Value distance =
        places_.distance(b_, step->getParentOfType<scf::ForOp>(), protocol_.leadOf(step), fill,
                         memories_[part].getSlotStride());
    return gpu::SmemSlotOp::create(b_, step->getLoc(), memories_[part], distance);
  }

  // The gets of the loops that get a fill in each iteration.
  SmallVector<gpu::RingGetOp> getsOfLoops() {
    SmallVector<gpu::RingGetOp> gets;
    for (Operation *user : ring_->getUsers())
      if (auto get = dyn_cast<gpu::RingGetOp>(user); get && isa<scf::ForOp>(user->getParentOp()))
        gets.push_back(get);
    return gets;
  }

  gpu::RingAllocOp ring_;
  const RingProtocol &protocol_;
  int32_t slots_;
  llvm::DenseSet<Operation *> awaited_;
  FillPlaces places_;
  bool hasCopiesByThreads_ = false, hasCopiesByEngine_ = false, hasPuts_ = false,
       isReadByWgmma_ = false, isReadByThreads_ = false, groupsDrift_ = false, isOfBlock_ = false,
       isInTurn_ = false;
  llvm::DenseSet<Operation *> shared_; ///< copies of which each block of a cluster makes a part
  OpBuilder b_;
  SmallVector<gpu::SmemAllocOp> memories_;
  gpu::SmemAllocOp barriers_; ///< one a slot, if the engine copies
  gpu::SmemAllocOp releases_; ///< one a slot, if groups of warps drift apart
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
    getOperation().walk([](gpu::PassTurnOp turn) { turn.getIterationsMutable().clear(); });
  }

  void tellOfCluster() {
    bool shares =
        getOperation()
            .walk([](gpu::TensorCopyOp copy) {
              return copy.getMulticast() ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted();
    if (ir::clusterOf(getOperation()) > 1 && !shares)
      getOperation().emitRemark(
          "cluster: each block loads all that it needs: no load of a loop with "
          "a warp of its own is the same in all blocks");
  }
};

} // namespace

} // namespace tile::passes
