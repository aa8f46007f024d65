// LowerRings: a ring becomes allocations of as many slots, one for each tile of a fill; fill i lies in slot i mod S.
//
//   acquire        nothing: the get before it has let all threads meet
//   copy           an asynchronous copy to the slot
//   put            a store to the slot
//   commit         the thread's copies become a group
//   get            a wait for the group of the fill, then a barrier, behind which all threads' copies are seen
//   release        nothing
//
// The slots are counted round the loop that the ring is of, since dividing by S in each iteration would cost more. A ring
// of one slot that is filled by puts alone needs no wait: PlaceBarriers sees its bytes and orders them.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "passes/analysis/RingProtocol.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile::passes {
#define GEN_PASS_DEF_LOWERRINGS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// The slots of the fills of a loop: those of fills i and i - 1 are carried as variables.
class SlotCounter {
public:
  explicit SlotCounter(int32_t slots) : slots_(slots) {}

  /// Begins to count round a loop; its body moves to a new one.
  void countRound(scf::ForOp loop) {
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    Location loc = loop.getLoc();
    SmallVector<Value> first = {arith::ConstantIntOp::create(rewriter, loc, 0, 32),
                                arith::ConstantIntOp::create(rewriter, loc, slots_ - 1, 32)};
    auto next = [&](OpBuilder &b, Location, ArrayRef<BlockArgument> variables) {
      current_ = variables[0], before_ = variables[1];
      return SmallVector<Value>{wrapped(b, loc, 1), current_};
    };
    (void)loop.replaceWithAdditionalYields(rewriter, first,
                                           /*replaceInitOperandUsesInLoop=*/false, next);
  }

  /// Does it count round this loop?
  bool counts(scf::ForOp loop) const {
    return loop && current_ && current_.getOwner() == loop.getBody();
  }

  /// The slot of fill i + lead in iteration i of the loop.
  Value slot(int64_t lead) {
    auto ahead = static_cast<int32_t>((lead % slots_ + slots_) % slots_);
    if (ahead == 0)
      return current_;
    if (ahead == slots_ - 1)
      return before_;
    OpBuilder b = OpBuilder::atBlockBegin(current_.getOwner());
    return wrapped(b, current_.getLoc(), ahead);
  }

private:
  // The slot `ahead` further on, which is less than a round.
  Value wrapped(OpBuilder &b, Location loc, int32_t ahead) {
    Value last = arith::ConstantIntOp::create(b, loc, slots_ - ahead, 32);
    Value isPast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, current_, last);
    Value moved = arith::AddIOp::create(b, loc, current_,
                                        arith::ConstantIntOp::create(b, loc, ahead, 32)),
          round = arith::SubIOp::create(b, loc, current_, last);
    return arith::SelectOp::create(b, loc, isPast, round, moved);
  }

  int32_t slots_;
  BlockArgument current_, before_;
};

class RingLowering {
public:
  RingLowering(gpu::RingAllocOp ring, const RingProtocol &protocol)
      : ring_(ring), protocol_(protocol), slots_(ring.getRing().getType().getSlots()),
        counter_(slots_), b_(ring) {
    hasCopies_ =
        llvm::any_of(ring->getUsers(), [](Operation *user) { return isa<gpu::RingCopyOp>(user); });
  }

  LogicalResult lower() {
    for (gpu::SmemType tile : ring_.getRing().getType().getTiles())
      memories_.push_back(gpu::SmemAllocOp::create(b_, ring_.getLoc(), tile, slots_));
    if (scf::ForOp loop = loopOfRing(); loop && slots_ > 1)
      counter_.countRound(loop);
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
    else if (isa<gpu::RingCommitOp>(user) && hasCopies_)
      gpu::AsyncCommitOp::create(b_, user->getLoc());
    else if (!isa<gpu::RingAcquireOp, gpu::RingCommitOp, gpu::RingReleaseOp>(user))
      return user->emitOpError("is not an operation on rings that this pass knows");
    return success();
  }

  void lowerCopy(gpu::RingCopyOp copy) {
    auto async = gpu::CopyAsyncOp::create(b_, copy.getLoc(), copy.getView(), copy.getOffsets(),
                                          place(copy.getPart(), copy, copy.getFill()),
                                          copy.getPredicate(), copy.getShape());
    async->setDiscardableAttrs(copy->getDiscardableAttrDictionary());
  }

  void lowerGet(gpu::RingGetOp get) {
    if (hasCopies_)
      gpu::AsyncWaitOp::create(b_, get.getLoc(), protocol_.laterFills(get));
    if (hasCopies_ || slots_ > 1)
      gpu::BarrierOp::create(b_, get.getLoc(),
                             b_.getStringAttr("what all threads copied arrives, and what they have "
                                              "read may be overwritten"));
    for (auto [i, tile] : llvm::enumerate(get.getTiles()))
      tile.replaceAllUsesWith(place(i, get, get.getFill()));
  }

  // The tile number `part` of the fill that an operation is on.
  Value place(size_t part, Operation *step, Value fill) {
    if (slots_ == 1)
      return memories_[part];
    auto loop = step->getParentOfType<scf::ForOp>();
    std::optional<int64_t> lead = protocol_.leadOf(step);
    Value slot = counter_.counts(loop) && lead ? counter_.slot(*lead) : remainder(fill);
    return gpu::SmemSlotOp::create(b_, step->getLoc(), memories_[part], slot);
  }

  // The loop that gets the ring's fills, one an iteration; null if there is none.
  scf::ForOp loopOfRing() {
    for (Operation *user : ring_->getUsers())
      if (isa<gpu::RingGetOp>(user))
        return dyn_cast<scf::ForOp>(user->getParentOp());
    return {};
  }

  Value remainder(Value fill) {
    return b_.createOrFold<arith::RemUIOp>(
        fill.getLoc(), fill, arith::ConstantIntOp::create(b_, fill.getLoc(), slots_, 32));
  }

  gpu::RingAllocOp ring_;
  const RingProtocol &protocol_;
  int32_t slots_;
  SlotCounter counter_;
  bool hasCopies_;
  OpBuilder b_;
  SmallVector<Value> memories_;
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
