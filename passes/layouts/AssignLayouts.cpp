// AssignLayouts: first decides, then rewrites. Accesses and products ask for layouts of their own;
// these flow forward through the operations that keep data in place, the stronger claim winning,
// until nothing changes. Values without a claim (constants, aranges, splats, broadcasts and what is
// made of them alone) are made where they are needed, in the layout that is needed.
#include "passes/Passes.h"

#include "ir/LayoutAttr.h"
#include "ir/UserError.h"
#include "ir/target/Target.h"
#include "passes/layouts/LayoutClaims.h"
#include "passes/layouts/RewriteToLayouts.h"

namespace tile::passes {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// "128x64xf16"
std::string shapeText(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t extent : type.getShape())
    os << extent << 'x';
  os << type.getElementType();
  return text;
}

/// A tile of more registers than this times a thread's would be spilled as a whole, after minutes
/// in the assembler.
constexpr int64_t kMostSpilled = 2;

// Tiles no thread can hold are refused here, where the layout first says how many registers they
// take.
LogicalResult verifyFits(Operation *op, int64_t warps) {
  for (Value value : op->getResults()) {
    if (!isTile(value))
      continue;
    auto type = cast<RankedTensorType>(value.getType());
    if (!gpu::encodingOf(type))
      return op->emitOpError("was given no layout");
    int64_t words = llvm::divideCeil(
        gpu::layoutOf(type).numRegisters() * gpu::bytesOf(type.getElementType()), 4);
    int64_t registers = ir::kMaxRegistersPerThread + 1; // with the zero register
    if (words <= kMostSpilled * registers)
      continue;
    return ir::userError(op->emitError(), ErrorCode::ResourceExceeded)
           << "registers: a tile of " << shapeText(type) << " takes " << words
           << " registers a thread with " << warps << " warps, a thread has "
           << ir::kMaxRegistersPerThread << "; use smaller tiles or more warps";
  }
  return success();
}

struct AssignLayouts : passes::impl::AssignLayoutsBase<AssignLayouts> {
  void runOnOperation() final {
    LayoutClaims claims(getOperation());
    if (failed(claims.decide()) || failed(rewriteToLayouts(getOperation(), claims)))
      return signalPassFailure();
    WalkResult fits = getOperation().walk([&](Operation *op) {
      return failed(verifyFits(op, claims.numWarps())) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
    });
    if (fits.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
