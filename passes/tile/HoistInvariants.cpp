// HoistInvariants: MLIR's loop-invariant code motion, except for loops that opt out. Inner loops
// come first, so that operations can leave several loops.
#include "passes/Passes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace tile::passes {
#define GEN_PASS_DEF_HOISTINVARIANTS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

struct HoistInvariants : passes::impl::HoistInvariantsBase<HoistInvariants> {
  void runOnOperation() final {
    getOperation().walk([](LoopLikeOpInterface loop) {
      if (!loop->hasAttr(ir::kNoLicmAttr))
        moveLoopInvariantCode(loop);
    });
  }
};

} // namespace

} // namespace tile::passes
