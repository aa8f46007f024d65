// UnrollLoops: unrolls a loop with `tile.unroll = n` n times.
#include "passes/Passes.h"

#include "passes/analysis/NumberRange.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"

namespace tile::passes {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// More copies of a body than this are a mistake, and would take minutes to compile.
constexpr int64_t kMostCopies = 256;

// MLIR's unroller divides lengths as unsigned numbers: the bounds must be in order, unless the step
// is 1.
void orderBounds(scf::ForOp loop) {
  if (matchPattern(loop.getStep(), m_One()) ||
      isNeverBelow(loop.getUpperBound(), loop.getLowerBound()))
    return;
  OpBuilder b(loop);
  loop.setUpperBound(
      arith::MaxSIOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound()));
}

struct UnrollLoops : passes::impl::UnrollLoopsBase<UnrollLoops> {
  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(ir::kUnrollAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      auto factor = loop->getAttrOfType<IntegerAttr>(ir::kUnrollAttr);
      loop->removeAttr(ir::kUnrollAttr);
      if (!factor || factor.getInt() < 2)
        continue;
      if (factor.getInt() > kMostCopies)
        loop.emitRemark("not unrolled: ")
            << factor.getInt() << " copies of the body are more than " << kMostCopies;
      else
        unroll(loop, static_cast<uint64_t>(factor.getInt()));
    }
  }

  static void unroll(scf::ForOp loop, uint64_t factor) {
    orderBounds(loop);
    FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, factor);
    if (failed(unrolled))
      loop.emitRemark("not unrolled: the loop's form does not allow it");
    else if (unrolled->epilogueLoopOp) // fewer iterations than `factor`: too few for a skew
      (*unrolled->epilogueLoopOp)->removeAttr(ir::kOverlapDotsAttr);
  }
};

} // namespace

} // namespace tile::passes
