// LowerRings: a ring becomes allocations of as many slots, one for each tile of a fill; fill i lies in slot i mod S.
//
//   acquire        nothing: the get before it has let all threads meet
//   copy           an asynchronous copy to the slot
//   put            a store to the slot
//   commit         the thread's copies become a group
//   get            a wait for the group of the fill, then a barrier, behind which all threads' copies are seen
//                  (by wgmma only what was fenced before: puts at the commit, copies behind the wait)
//   tiles          nothing: the slot's tiles
//   release        nothing
//
// How far slots are from the first is carried round the loop that the ring is of, in bytes, since to divide by S and to
// multiply in each iteration would cost more. A ring of one slot that is filled by puts alone needs no wait: PlaceBarriers sees its bytes and orders them.
#include "passes/Passes.h"

#include "ir/Annotations.h"
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

/// The distances of a loop's slots from the first, for each slot stride: those of fills i - 1 and i, and of fill i + 1 if
/// iteration i gets that, are carried as variables. Fill i - 1's is also that of fill i + S - 1, which a loop of S stages
/// begins in iteration i.
class SlotDistances {
public:
  explicit SlotDistances(gpu::RingType ring) : slots_(ring.getSlots()) {}

  /// Begins to carry the distances round a loop, up to that of fill i + newest; its body moves to a new one.
  void carryRound(scf::ForOp loop, int64_t newest, ArrayRef<gpu::SmemAllocOp> memories) {
    for (gpu::SmemAllocOp memory : memories)
      byStride_.insert({memory.getSlotStride(), {}});
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    SmallVector<Value> first;
    for (auto &[stride, carried] : byStride_)
      for (int64_t lead = newest; lead >= -1; --lead)
        first.push_back(constant(rewriter, loop.getLoc(), slotOf(lead) * stride));
    auto next = [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument> variables) {
      SmallVector<Value> yielded;
      for (auto &[stride, carried] : byStride_) {
        carried.newest = newest;
        carried.distances = llvm::to_vector(variables.slice(yielded.size(), newest + 2));
        yielded.push_back(behind(b, loc, carried.distances.front(), stride));
        llvm::append_range(yielded, ArrayRef(carried.distances).drop_back());
      }
      return yielded;
    };
    (void)loop.replaceWithAdditionalYields(rewriter, first,
                                           /*replaceInitOperandUsesInLoop=*/false, next);
  }

  /// The distance for fill i + lead in iteration i of a loop; null if it is not carried round that.
  Value carried(scf::ForOp loop, int64_t lead, int64_t stride) const {
    auto found = byStride_.find(stride);
    if (!loop || found == byStride_.end())
      return {};
    const Carried &carried = found->second;
    if (carried.distances.front().getOwner() != loop.getBody())
      return {};
    for (auto [i, distance] : llvm::enumerate(carried.distances))
      if (slotOf(carried.newest - static_cast<int64_t>(i)) == slotOf(lead))
        return distance;
    return {};
  }

  /// The distance for a fill, from its number.
  Value computed(OpBuilder &b, Value fill, int64_t stride) const {
    Location loc = fill.getLoc();
    Value slot = b.createOrFold<arith::RemUIOp>(loc, fill, constant(b, loc, slots_));
    return b.createOrFold<arith::MulIOp>(loc, slot, constant(b, loc, stride));
  }

private:
  /// Of fills i + newest, i + newest - 1, ... i - 1.
  struct Carried {
    int64_t newest = 0;
    SmallVector<BlockArgument> distances;
  };

  /// The slot of fill i + lead where fill i lies in slot 0.
  int64_t slotOf(int64_t lead) const { return (lead % slots_ + slots_) % slots_; }

  static Value constant(OpBuilder &b, Location loc, int64_t value) {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  }

  Value behind(OpBuilder &b, Location loc, Value distance, int64_t stride) const {
    Value next = arith::AddIOp::create(b, loc, distance, constant(b, loc, stride));
    Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, distance,
                                         constant(b, loc, (slots_ - 1) * stride));
    return arith::SelectOp::create(b, loc, isLast, constant(b, loc, 0), next);
  }

  int64_t slots_;
  llvm::MapVector<int64_t, Carried> byStride_;
};

class RingLowering {
public:
  RingLowering(gpu::RingAllocOp ring, const RingProtocol &protocol)
      : ring_(ring), protocol_(protocol), slots_(ring.getRing().getType().getSlots()),
        distances_(ring.getRing().getType()), b_(ring) {
    auto any = [&](auto is) { return llvm::any_of(ring->getUsers(), is); };
    hasCopies_ = any([](Operation *user) { return isa<gpu::RingCopyOp>(user); });
    hasPuts_ = any([](Operation *user) { return isa<gpu::RingPutOp>(user); });
    isReadByWgmma_ = any([](Operation *user) {
      return llvm::any_of(user->getUsers(),
                          [](Operation *reader) { return isa<gpu::DotAsyncOp>(reader); });
    });
  }

  LogicalResult lower() {
    for (gpu::SmemType tile : ring_.getRing().getType().getTiles())
      memories_.push_back(gpu::SmemAllocOp::create(b_, ring_.getLoc(), tile, IntegerAttr(), slots_,
                                                   isReadByWgmma_ ? layout::kWgmmaAlignment
                                                                  : gpu::kSharedAlignment));
    if (scf::ForOp loop = loopOfRing(); loop && slots_ > 1)
      distances_.carryRound(loop, protocol_.leadOf(getOf(loop)).value_or(0) == 1 ? 1 : 0,
                            memories_);
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
    else if (!isa<gpu::RingAcquireOp, gpu::RingReleaseOp>(user))
      return user->emitOpError("is not an operation on rings that this pass knows");
    return success();
  }

  void lowerCopy(gpu::RingCopyOp copy) {
    auto async = gpu::CopyAsyncOp::create(b_, copy.getLoc(), copy.getView(), copy.getOffsets(),
                                          place(copy.getPart(), copy, copy.getFill()),
                                          copy.getPredicate(), copy.getShape());
    async->setDiscardableAttrs(copy->getDiscardableAttrDictionary());
  }

  void lowerCommit(Location loc) {
    if (hasCopies_)
      gpu::AsyncCommitOp::create(b_, loc);
    if (hasPuts_ && isReadByWgmma_)
      gpu::ProxyFenceOp::create(b_, loc);
  }

  void lowerGet(gpu::RingGetOp get) {
    if (hasCopies_)
      gpu::AsyncWaitOp::create(b_, get.getLoc(), protocol_.laterFills(get));
    if (hasCopies_ && isReadByWgmma_)
      gpu::ProxyFenceOp::create(b_, get.getLoc());
    if (hasCopies_ || slots_ > 1)
      gpu::BarrierOp::create(b_, get.getLoc(),
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
    auto loop = step->getParentOfType<scf::ForOp>();
    int64_t stride = memories_[part].getSlotStride();
    std::optional<int64_t> lead = protocol_.leadOf(step);
    Value distance = lead ? distances_.carried(loop, *lead, stride) : Value();
    if (!distance)
      distance = distances_.computed(b_, fill, stride);
    return gpu::SmemSlotOp::create(b_, step->getLoc(), memories_[part], distance);
  }

  // The loop that gets the ring's fills, one an iteration; null if there is none.
  scf::ForOp loopOfRing() {
    for (Operation *user : ring_->getUsers())
      if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()); loop && isa<gpu::RingGetOp>(user))
        return loop;
    return {};
  }

  gpu::RingGetOp getOf(scf::ForOp loop) {
    for (auto get : loop.getBody()->getOps<gpu::RingGetOp>())
      if (get.getRing() == ring_.getRing())
        return get;
    return {};
  }

  gpu::RingAllocOp ring_;
  const RingProtocol &protocol_;
  int32_t slots_;
  SlotDistances distances_;
  bool hasCopies_ = false, hasPuts_ = false, isReadByWgmma_ = false;
  OpBuilder b_;
  SmallVector<gpu::SmemAllocOp> memories_;
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
