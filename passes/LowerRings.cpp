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
//   release        nothing
//
// How far slots are from the first is carried round the loop that the ring is of, in bytes, since to divide by S and to
// multiply in each iteration would cost more. A ring of one slot that is filled by puts alone needs no wait: PlaceBarriers
// sees its bytes and orders them.
//
// A slot's barrier counts phases: fill i ends phase i / S, and waits tell phases apart by their parity, which is carried,
// too. The barriers are made before the loop and given up behind it, so that a loop that runs again begins at phase 0.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/LayoutAttr.h"
#include "ir/TensorCopy.h"
#include "ir/layout/WgmmaOperand.h"
#include "passes/analysis/RingProtocol.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace tile::passes {
#define GEN_PASS_DEF_LOWERRINGS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// The places of a loop's fills: for each slot stride the distances of slots from the first, of fills i - 1 and i, and of
/// fill i + 1 if iteration i gets that, are carried as variables. Fill i - 1's is also that of fill i + S - 1, which a loop
/// of S stages begins in iteration i. So is the parity of the phase that the newest of them ends.
struct LoopPlaces {
  int64_t newest = 0;
  /// Of fills i + newest, i + newest - 1, ... i - 1.
  llvm::MapVector<int64_t, SmallVector<BlockArgument>> byStride;
  BlockArgument parity; ///< of fill i + newest

  bool isOf(scf::ForOp loop) const {
    BlockArgument any = parity ? parity : byStride.front().second.front();
    return any.getOwner() == loop.getBody();
  }
};

/// The places of a ring's fills: carried round its loops (several if one was peeled), elsewhere computed from their numbers.
class FillPlaces {
public:
  explicit FillPlaces(gpu::RingType ring) : slots_(ring.getSlots()) {}

  /// Begins to carry the places round a loop, up to that of fill i + newest; its body moves to a new one.
  void carryRound(scf::ForOp loop, int64_t newest, ArrayRef<int64_t> strides, bool hasPhases) {
    LoopPlaces places;
    places.newest = newest;
    if (slots_ > 1) // the only slot is the first
      for (int64_t stride : strides)
        places.byStride.insert({stride, {}});
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    SmallVector<Value> first;
    for (auto &[stride, distances] : places.byStride)
      for (int64_t lead = newest; lead >= -1; --lead)
        first.push_back(constant(rewriter, loop.getLoc(), slotOf(lead) * stride));
    if (hasPhases)
      first.push_back(constant(rewriter, loop.getLoc(), newest / slots_ % 2));
    auto next = [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument> variables) {
      SmallVector<Value> yielded;
      Value wraps;
      for (auto &[stride, distances] : places.byStride) {
        distances = llvm::to_vector(variables.slice(yielded.size(), newest + 2));
        wraps = isLast(b, loc, distances.front(), stride);
        yielded.push_back(behind(b, loc, distances.front(), stride, wraps));
        llvm::append_range(yielded, ArrayRef(distances).drop_back());
      }
      if (hasPhases) {
        places.parity = variables.back();
        yielded.push_back(parityBehind(b, loc, places.parity, wraps));
      }
      return yielded;
    };
    (void)loop.replaceWithAdditionalYields(rewriter, first,
                                           /*replaceInitOperandUsesInLoop=*/false, next);
    loops_.push_back(std::move(places));
  }

  /// The distance for a fill, whose lead is how far it is ahead of the iteration of `loop`, if that is known.
  Value distance(OpBuilder &b, scf::ForOp loop, std::optional<int64_t> lead, Value fill,
                 int64_t stride) const {
    Location loc = fill.getLoc();
    if (slots_ == 1)
      return constant(b, loc, 0);
    if (const LoopPlaces *places = lead ? placesOf(loop) : nullptr)
      for (auto [i, known] : llvm::enumerate(places->byStride.lookup(stride)))
        if (slotOf(places->newest - static_cast<int64_t>(i)) == slotOf(*lead))
          return known;
    Value slot = b.createOrFold<arith::RemUIOp>(loc, fill, constant(b, loc, slots_));
    return b.createOrFold<arith::MulIOp>(loc, slot, constant(b, loc, stride));
  }

  /// The parity of the phase that a fill ends.
  Value parity(OpBuilder &b, scf::ForOp loop, std::optional<int64_t> lead, Value fill) const {
    if (const LoopPlaces *places = placesOf(loop); places && lead == places->newest)
      return places->parity;
    Location loc = fill.getLoc();
    Value phase = b.createOrFold<arith::DivUIOp>(loc, fill, constant(b, loc, slots_));
    return b.createOrFold<arith::AndIOp>(loc, phase, constant(b, loc, 1));
  }

private:
  const LoopPlaces *placesOf(scf::ForOp loop) const {
    const auto *found =
        llvm::find_if(loops_, [&](const LoopPlaces &places) { return loop && places.isOf(loop); });
    return found == loops_.end() ? nullptr : found;
  }

  /// The slot of fill i + lead where fill i lies in slot 0.
  int64_t slotOf(int64_t lead) const { return (lead % slots_ + slots_) % slots_; }

  static Value constant(OpBuilder &b, Location loc, int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }

  Value isLast(OpBuilder &b, Location loc, Value distance, int64_t stride) const {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, distance,
                                 constant(b, loc, (slots_ - 1) * stride));
  }

  static Value behind(OpBuilder &b, Location loc, Value distance, int64_t stride, Value wraps) {
    Value next = arith::AddIOp::create(b, loc, distance, constant(b, loc, stride));
    return arith::SelectOp::create(b, loc, wraps, constant(b, loc, 0), next);
  }

  // Where there is one slot each fill ends a phase.
  static Value parityBehind(OpBuilder &b, Location loc, Value parity, Value wraps) {
    Value flip = wraps ? arith::ExtUIOp::create(b, loc, b.getI32Type(), wraps).getResult()
                       : constant(b, loc, 1);
    return arith::XOrIOp::create(b, loc, parity, flip);
  }

  int64_t slots_;
  SmallVector<LoopPlaces> loops_;
};

/// What of a ring is used while it is filled from fill 0 on until it is empty again: from `first` to `last` in one block.
struct RingRun {
  Operation *first, *last;
};

// The runs of a ring: each begins with an acquire of fill 0, or is a loop that acquires fill after fill.
class RingRuns {
public:
  explicit RingRuns(gpu::RingAllocOp ring) : ring_(ring.getRing()) { collect(ring->getBlock()); }

  ArrayRef<RingRun> all() const { return runs_; }

private:
  bool isBegin(Operation *op) const {
    auto acquire = dyn_cast<gpu::RingAcquireOp>(op);
    return acquire && acquire.getRing() == ring_ && matchPattern(acquire.getFill(), m_Zero());
  }

  bool uses(Operation *op) const { return llvm::is_contained(op->getOperands(), ring_); }

  template <class Is> static bool holds(Operation *op, Is is) {
    return op
        ->walk([&](Operation *inner) {
          return inner != op && is(inner) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  bool acquiresEachIteration(Operation *op) const {
    auto loop = dyn_cast<scf::ForOp>(op);
    return loop && llvm::any_of(loop.getBody()->getOps<gpu::RingAcquireOp>(),
                                [&](auto acquire) { return acquire.getRing() == ring_; });
  }

  void collect(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        collect(&block);
  }

  void collect(Block *block) {
    bool isOpen = false;
    for (Operation &op : *block) {
      bool isUser = uses(&op), holdsUsers = holds(&op, [&](Operation *in) { return uses(in); });
      bool holdsBegin = holds(&op, [&](Operation *in) { return isBegin(in); });
      if (!isUser && !holdsUsers)
        continue;
      bool hasRunsOfItsOwn = holdsBegin || (!isOpen && !isUser && !acquiresEachIteration(&op));
      if (hasRunsOfItsOwn) {
        isOpen = false;
        collect(&op);
        continue;
      }
      if (!isOpen || isBegin(&op))
        runs_.push_back({&op, &op});
      runs_.back().last = &op;
      isOpen = true;
    }
  }

  Value ring_;
  SmallVector<RingRun> runs_;
};

class RingLowering {
public:
  RingLowering(gpu::RingAllocOp ring, const RingProtocol &protocol)
      : ring_(ring), protocol_(protocol), slots_(ring.getRing().getType().getSlots()),
        places_(ring.getRing().getType()), b_(ring) {
    auto any = [&](auto is) { return llvm::any_of(ring->getUsers(), is); };
    hasCopiesByThreads_ =
        any([](Operation *user) { return isa<gpu::RingCopyOp>(user) && !isByEngine(user); });
    hasCopiesByEngine_ = any([](Operation *user) { return isByEngine(user); });
    hasPuts_ = any([](Operation *user) { return isa<gpu::RingPutOp>(user); });
    isReadByWgmma_ = any([](Operation *user) {
      return llvm::any_of(user->getUsers(),
                          [](Operation *reader) { return isa<gpu::DotAsyncOp>(reader); });
    });
  }

  LogicalResult lower() {
    allocate();
    if (hasCopiesByEngine_)
      makeBarriers();
    if (slots_ > 1 || hasCopiesByEngine_)
      for (gpu::RingGetOp get : getsOfLoops())
        places_.carryRound(cast<scf::ForOp>(get->getParentOp()),
                           protocol_.leadOf(get).value_or(0) == 1 ? 1 : 0, strides(),
                           hasCopiesByEngine_);
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

  // --- Memory -------------------------------------------------------------------------------------------------------

  void allocate() {
    bool hasPattern = isReadByWgmma_ || hasCopiesByEngine_;
    for (gpu::SmemType tile : ring_.getRing().getType().getTiles())
      memories_.push_back(
          gpu::SmemAllocOp::create(b_, ring_.getLoc(), tile, IntegerAttr(), slots_,
                                   hasPattern ? layout::kWgmmaAlignment : gpu::kSharedAlignment));
    if (!hasCopiesByEngine_)
      return;
    auto row = gpu::attributeOf(b_.getContext(), layout::SharedLayout::rowMajor({slots_}, {0}));
    barriers_ = gpu::SmemAllocOp::create(
        b_, ring_.getLoc(), gpu::SmemType::get(b_.getContext(), {slots_}, b_.getI64Type(), row));
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
    RingRuns runs(ring_);
    Location loc = ring_.getLoc();
    bool isOnly = runs.all().size() == 1 && runs.all()[0].first->getBlock() == ring_->getBlock();
    for (RingRun run : runs.all()) {
      b_.setInsertionPoint(run.first);
      inOneThread([&] { gpu::MbarrierInitOp::create(b_, loc, barriers_); });
      gpu::ProxyFenceOp::create(b_, loc);
      gpu::BarrierOp::create(b_, loc, b_.getStringAttr("the slots' barriers are made"));
      if (isOnly)
        return;
      b_.setInsertionPointAfter(run.last);
      inOneThread([&] { gpu::MbarrierInvalOp::create(b_, loc, barriers_); });
    }
  }

  void inOneThread(llvm::function_ref<void()> make, Value predicate = {}) {
    auto elect = gpu::ElectOp::create(b_, ring_.getLoc(), predicate);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(&elect.getBody().front());
    make();
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
    inOneThread(
        [&] {
          gpu::MbarrierExpectOp::create(b_, last.getLoc(), barriers_, barrier,
                                        static_cast<uint32_t>(bytes));
          for (auto [each, memory] : llvm::zip_equal(copies, memories)) {
            gpu::RingCopyOp copy = each;
            auto async =
                gpu::TensorCopyOp::create(b_, copy.getLoc(), copy.getView(), copy.getOffsets(),
                                          memory, barriers_, barrier, copy.getShape());
            async->setDiscardableAttrs(copy->getDiscardableAttrDictionary());
          }
        },
        last.getPredicate());
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
      gpu::SmemStoreOp::create(b_, put.getLoc(), put.getValue(),
                               place(put.getPart(), put, put.getFill()));
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
    else if (!isa<gpu::RingReleaseOp>(user))
      return user->emitOpError("is not an operation on rings that this pass knows");
    return success();
  }

  void lowerCopy(gpu::RingCopyOp copy) {
    auto async = gpu::CopyAsyncOp::create(b_, copy.getLoc(), copy.getView(), copy.getOffsets(),
                                          place(copy.getPart(), copy, copy.getFill()),
                                          copy.getPredicate(), copy.getShape());
    async->setDiscardableAttrs(copy->getDiscardableAttrDictionary());
  }

  void lowerAcquire(gpu::RingAcquireOp acquire) {
    if (protocol_.mustMeetAt(acquire))
      gpu::BarrierOp::create(b_, acquire.getLoc(),
                             b_.getStringAttr("what all threads have read may be overwritten"));
  }

  void lowerCommit(Location loc) {
    if (hasCopiesByThreads_)
      gpu::AsyncCommitOp::create(b_, loc);
    if (hasPuts_ && isReadByWgmma_)
      gpu::ProxyFenceOp::create(b_, loc);
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
      gpu::BarrierOp::create(b_, loc,
                             b_.getStringAttr("what all threads copied arrives, and what they have "
                                              "read may be overwritten"));
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
  FillPlaces places_;
  bool hasCopiesByThreads_ = false, hasCopiesByEngine_ = false, hasPuts_ = false,
       isReadByWgmma_ = false;
  OpBuilder b_;
  SmallVector<gpu::SmemAllocOp> memories_;
  gpu::SmemAllocOp barriers_; ///< one a slot, if the engine copies
};

struct LowerRings : passes::impl::LowerRingsBase<LowerRings> {
  void runOnOperation() final {
    SmallVector<gpu::RingAllocOp> rings;
    getOperation().walk([&](gpu::RingAllocOp ring) { rings.push_back(ring); });
    if (rings.empty())
      return;
    RingProtocol protocol(getOperation());
    if (!protocol.isValid())
      return signalPassFailure();
    for (gpu::RingAllocOp ring : rings)
      if (failed(RingLowering(ring, protocol).lower()))
        return signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
