// SplitRings: a skewed loop gets a ring per set of readers (leading part, lagging part, both), so
// that each fill is released when *its* dots are done and not an iteration later. In attention keys
// and values get a ring each: two stages of each cover the load latency for which a common ring
// takes three.
//
//   acquire r, copy k to r, copy v to r, commit r; wait r; S = q k; ... O += P v; release r
//   becomes
//   acquire a, copy k to a, commit a; acquire b, copy v to b, commit b; wait a, wait b;
//   S = q k; release a; ... O += P v; release b
#include "passes/Passes.h"

#include "ir/annotations/LoopAnnotations.h"
#include "passes/analysis/RunAhead.h"
#include "passes/pipelining/analysis/RingProtocol.h"
#include "passes/pipelining/analysis/RingReaders.h"

namespace tile::passes {
#define GEN_PASS_DEF_SPLITRINGS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// Splits a ring before PipelineLoops: all its steps still stand in the body.
class RingSplitter {
public:
  RingSplitter(gpu::ProducerAcquireOp acquire, gpu::ConsumerWaitOp get)
      : acquire_(acquire), get_(get), old_(acquire.getRing()),
        steps_(old_.user_begin(), old_.user_end()), b_(acquire) {}

  void split(ArrayRef<TilesOfReaders> parts) {
    for (const TilesOfReaders &part : parts)
      makeRing(part);
    for (Operation *step : steps_)
      step->erase();
    old_.getDefiningOp()->erase();
  }

private:
  void makeRing(const TilesOfReaders &part) {
    Value ring = allocate(part);
    Value fill = acquire_.getFill();
    b_.setInsertionPoint(acquire_);
    gpu::ProducerAcquireOp::create(b_, acquire_.getLoc(), ring, fill);
    for (auto [number, tile] : llvm::enumerate(part.tiles))
      copy(tile, ring, static_cast<uint32_t>(number));
    gpu::ProducerCommitOp::create(b_, acquire_.getLoc(), ring, fill);
    b_.setInsertionPoint(get_);
    auto get = gpu::ConsumerWaitOp::create(b_, get_.getLoc(), ring, fill);
    for (auto [tile, own] : llvm::zip_equal(part.tiles, get.getTiles()))
      get_.getTiles()[tile].replaceAllUsesWith(own);
    b_.setInsertionPointAfter(lastReader(get));
    gpu::ConsumerReleaseOp::create(b_, get_.getLoc(), ring, fill);
  }

  Value allocate(const TilesOfReaders &part) {
    auto type = cast<gpu::RingType>(old_.getType());
    auto tiles =
        llvm::map_to_vector(part.tiles, [&](int32_t number) { return type.getTiles()[number]; });
    b_.setInsertionPoint(old_.getDefiningOp());
    return gpu::RingAllocOp::create(b_, old_.getLoc(),
                                    gpu::RingType::get(b_.getContext(), type.getStages(), tiles));
  }

  void copy(int32_t tile, Value ring, uint32_t number) {
    for (Operation *step : steps_)
      if (auto copy = dyn_cast<gpu::RingCopyOp>(step);
          copy && static_cast<int32_t>(copy.getOperandIndex()) == tile) {
        auto own = cast<gpu::RingCopyOp>(b_.clone(*copy));
        own.getRingMutable().assign(ring);
        own.setOperandIndex(number);
      }
  }

  static Operation *lastReader(gpu::ConsumerWaitOp get) {
    Operation *last = get;
    for (Operation *reader : readersOf(get, get.getTiles()))
      if (last->isBeforeInBlock(reader))
        last = reader;
    return last;
  }

  gpu::ProducerAcquireOp acquire_;
  gpu::ConsumerWaitOp get_;
  Value old_;
  SmallVector<Operation *> steps_;
  OpBuilder b_;
};

struct SplitRings : passes::impl::SplitRingsBase<SplitRings> {
  void runOnOperation() final {
    getOperation().walk([](scf::ForOp loop) {
      gpu::LoopPlanAttr plan = gpu::loopPlanOf(loop);
      std::optional<LoopSkew> skew = plan && plan.getSkewed() ? skewOf(loop) : std::nullopt;
      if (!skew)
        return;
      for (gpu::ProducerAcquireOp acquire : ringsOf(loop))
        if (gpu::ConsumerWaitOp get = getOf(acquire.getRing(), loop)) {
          SmallVector<TilesOfReaders> parts = ringsByReaders(get, *skew);
          if (parts.size() > 1)
            RingSplitter(acquire, get).split(parts);
        }
    });
    if (failed(verifyRings(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
