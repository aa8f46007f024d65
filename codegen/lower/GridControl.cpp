// Dependent launches: what waits for those before, and what lets the next one start.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

// To LLVM the intrinsic that waits touches no memory, so loads could move before it; inline PTX that clobbers memory holds
// them back. The other may stand anywhere.
LogicalResult lowerGridControl(Lowering &l, NVVM::GriddepcontrolOp control) {
  Location loc = control.getLoc();
  if (control.getKind() == NVVM::GridDepActionKind::wait)
    inlineMemoryPtx(l.b, loc, "griddepcontrol.wait;", "", LLVM::LLVMVoidType::get(l.b.getContext()),
                    {});
  else
    NVVM::GriddepcontrolOp::create(l.b, loc, control.getKind());
  return success();
}

constexpr LoweringRow kLowerings[] = {on<NVVM::GriddepcontrolOp, lowerGridControl>};

} // namespace

LoweringTable gridControlLowerings() { return kLowerings; }

} // namespace tile::codegen
