#include "passes/analysis/ViewAccesses.h"

#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"

using namespace mlir;

namespace tile::passes {

LogicalResult verifyAccessesAreKnown(func::FuncOp function) {
  if (!function->hasAttr(ir::kKernelAttr)) // LowerViews leaves it alone
    return success();
  WalkResult all = function.walk([](Operation *op) {
    if (!isa<ir::ViewLoadOp, ir::ViewStoreOp>(op) || gpu::accessOf(op))
      return WalkResult::advance();
    op->emitOpError("has no tilegpu.access; the pass that lowers views has not run");
    return WalkResult::interrupt();
  });
  return failure(all.wasInterrupted());
}

} // namespace tile::passes
