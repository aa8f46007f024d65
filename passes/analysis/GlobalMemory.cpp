#include "passes/analysis/GlobalMemory.h"

#include "ir/annotations/FunctionAnnotations.h"

using namespace mlir;

namespace tile::passes {

Value rootOf(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (auto view = dyn_cast<ir::MakeViewOp>(op))
      pointer = view.getBase();
    else if (isa<ir::AddPtrOp, ir::SplatOp, ir::BroadcastOp, ir::ExpandDimsOp, ir::FactsOp,
                 ir::PermuteOp, ir::ReshapeOp, gpu::ConvertLayoutOp>(op))
      pointer = op->getOperand(0);
    else
      return {};
  }
  Operation *parent = cast<BlockArgument>(pointer).getOwner()->getParentOp();
  return isa<func::FuncOp>(parent) ? pointer : Value();
}

namespace {

// Does `tile.may_alias` of one argument name the other, which `tile.param` says the source kernel's
// number of?
bool names(Value root, Value other) {
  auto argument = cast<BlockArgument>(root), second = cast<BlockArgument>(other);
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto aliases =
      function.getArgAttrOfType<DenseI32ArrayAttr>(argument.getArgNumber(), ir::kMayAliasAttr);
  if (!aliases)
    return false;
  ir::ParamAttr param = ir::paramOf(function, second.getArgNumber());
  int64_t number = param ? param.getArg() : second.getArgNumber();
  return llvm::is_contained(aliases.asArrayRef(), number);
}

} // namespace

bool mayOverlap(Value rootA, Value rootB) {
  if (!rootA || !rootB || rootA == rootB)
    return true;
  return names(rootA, rootB) || names(rootB, rootA);
}

} // namespace tile::passes
