#include "passes/layouts/LayoutClaims.h"

#include "ir/Callable.h"
#include "ir/LayoutAttr.h"
#include "ir/UserError.h"
#include "ir/annotations/DotAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "passes/analysis/FragmentLoads.h"

using namespace mlir;

namespace tile::passes {

using gpu::LayoutClaim;
using gpu::LayoutOp;
using gpu::Strength;

static bool isUnderstood(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  bool isMade = isa_and_present<ir::TileDialect>(op->getDialect()) &&
                llvm::none_of(op->getOperands(), isTile); // of scalars: in any layout
  return isa<arith::ConstantOp, scf::ForOp, scf::IfOp, scf::WhileOp, LayoutOp>(op) || isMade ||
         (call && ir::callableOf(call)) || gpu::isElementwiseOnTiles(op) ||
         isa_and_present<gpu::TileGpuDialect>(op->getDialect());
}

LayoutClaims::LayoutClaims(func::FuncOp function)
    : function_(function), warps_(ir::warpsOf(function)) {}

LogicalResult LayoutClaims::verifyKnown() {
  WalkResult known = function_.walk([](Operation *op) {
    if (!llvm::any_of(op->getResults(), isTile) || isUnderstood(op))
      return WalkResult::advance();
    ir::userError(op->emitOpError(), ErrorCode::Unsupported)
        << "makes tiles, but how they lie over threads is not known for this operation";
    return WalkResult::interrupt();
  });
  return failure(known.wasInterrupted());
}

LogicalResult LayoutClaims::verifyDots() {
  WalkResult known = function_.walk([](ir::DotOp dot) {
    if (gpu::layoutsOf(dot))
      return WalkResult::advance();
    dot.emitOpError("the chosen variant has no layout for these shapes");
    return WalkResult::interrupt();
  });
  return failure(known.wasInterrupted());
}

LogicalResult LayoutClaims::decide() {
  if (failed(verifyKnown()) || failed(verifyDots()))
    return failure();
  if (function_->hasAttr(ir::kCallableAttr))
    for (Value argument : function_.getArguments())
      claim(argument, boundaryClaim(argument));
  claimFragmentLoads();
  do {
    changed_ = false;
    function_.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
  } while (changed_);
  return success();
}

// Of products with a K width the factors are loaded where the instructions take them, but for the
// order of registers.
void LayoutClaims::claimFragmentLoads() {
  function_.walk([&](ir::DotOp dot) {
    if (gpu::kWidthOf(dot))
      for (const FragmentLoad &each : fragmentLoads(dot))
        claim(ir::ViewLoadOp(each.load).getResult(), {each.layout, Strength::Product});
  });
}

gpu::LayoutAttr LayoutClaims::boundaryLayout(Value value) const {
  return gpu::defaultLayout(cast<RankedTensorType>(value.getType()), warps_);
}

gpu::LayoutAttr LayoutClaims::layoutOrDefault(Value value) const {
  LayoutClaim claim = of(value);
  return claim.layout ? claim.layout : boundaryLayout(value);
}

void LayoutClaims::claim(Value value, LayoutClaim next) {
  LayoutClaim &current = claims_[value];
  if (!isTile(value) || !next.layout || next.strength <= current.strength)
    return;
  current = next;
  changed_ = true;
}

LayoutClaim LayoutClaims::boundaryClaim(Value value) const {
  return isTile(value) ? LayoutClaim{boundaryLayout(value), Strength::Default} : LayoutClaim();
}

LayoutClaim LayoutClaims::strongest(ValueRange values) const {
  LayoutClaim best;
  for (Value value : values)
    if (isTile(value) && of(value) > best)
      best = of(value);
  return best;
}

void LayoutClaims::visitFor(scf::ForOp loop) {
  for (auto [arg, init, yielded, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues(),
                       loop.getResults())) {
    LayoutClaim best = strongest({arg, init, yielded, result});
    if (isTile(arg) && best.strength == Strength::None)
      best = {layoutOrDefault(arg), Strength::Default};
    claim(arg, best);
    claim(result, best);
  }
}

void LayoutClaims::visitWhile(scf::WhileOp loop) {
  for (auto [init, before, yielded] :
       llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
    claimVariable({before}, {init, yielded, before});
  for (auto [passed, after, result] : llvm::zip_equal(loop.getConditionOp().getArgs(),
                                                      loop.getAfterArguments(), loop.getResults()))
    claimVariable({after, result}, {passed, after, result});
}

void LayoutClaims::visitIf(scf::IfOp op) {
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    claimVariable({result}, {op.thenYield().getOperand(i), op.elseYield().getOperand(i), result});
}

void LayoutClaims::claimVariable(ArrayRef<Value> targets, ArrayRef<Value> sources) {
  if (!isTile(targets.front()))
    return;
  LayoutClaim best = strongest(sources);
  if (best.strength == Strength::None)
    best = {layoutOrDefault(targets.front()), Strength::Default};
  for (Value target : targets)
    claim(target, best);
}

void LayoutClaims::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return visitWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return branch.getNumResults() ? visitIf(branch) : void();
  if (isa<func::CallOp>(op)) {
    for (Value result : op->getResults())
      claim(result, boundaryClaim(result));
    return;
  }
  auto laid = dyn_cast<LayoutOp>(op);
  SmallVector<Value> sources =
      laid ? laid.getLayoutSources() : SmallVector<Value>(op->getOperands());
  LayoutClaim best = strongest(sources);
  if (best.strength != Strength::None)
    return claimResults(op, best);
  if (LayoutClaim wanted = laid ? laid.getWantedLayout(warps_) : LayoutClaim(); wanted.layout)
    for (Value value : op->getResults())
      claim(value, wanted);
}

// The results follow a claim of the operands; where the algebra refuses they start anew.
void LayoutClaims::claimResults(Operation *op, const LayoutClaim &source) {
  gpu::LayoutAttr result = gpu::resultLayout(op, source.layout);
  for (Value value : op->getResults())
    if (isTile(value))
      claim(value, result ? LayoutClaim{result, source.strength, source.wordElements}
                          : LayoutClaim{layoutOrDefault(value), Strength::Default});
}

} // namespace tile::passes
