#include "passes/layouts/RewriteToLayouts.h"

#include "ir/Callable.h"
#include "ir/LayoutAttr.h"
#include "ir/UserError.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/layout/Derived.h"
#include "passes/layouts/TilesInLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::passes {

namespace {

class Rewriter {
public:
  Rewriter(func::FuncOp function, const LayoutClaims &claims)
      : function_(function), claims_(claims), tiles_(function, claims) {}

  LogicalResult rewrite() {
    bool isCalled = function_->hasAttr(ir::kCallableAttr);
    for (Value argument : function_.getArguments())
      if (isCalled && isTile(argument))
        tiles_.setLayout(argument, claims_.boundaryLayout(argument));
    SmallVector<Operation *> ops;
    function_.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(rewrite(op)))
        return failure();
    tiles_.eraseUnlaid(ops);
    if (isCalled)
      function_.setType(
          FunctionType::get(function_.getContext(), function_.getBody().getArgumentTypes(),
                            function_.getBody().front().getTerminator()->getOperandTypes()));
    return success();
  }

private:
  LogicalResult rewrite(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (isTile(constant) && !isa<SplatElementsAttr>(constant.getValue()))
        return ir::userError(constant.emitOpError(), ErrorCode::Unsupported)
               << "only constants with one value everywhere are supported on tiles";
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      return rewriteControl(op), success();
    if (isa<scf::YieldOp, scf::ConditionOp>(op))
      return rewriteTerminator(op), success();
    auto call = dyn_cast<func::CallOp>(op);
    if ((call && ir::callableOf(call)) ||
        (isa<func::ReturnOp>(op) && function_->hasAttr(ir::kCallableAttr)))
      return rewriteBoundary(op), success();
    if (isa<ir::ViewStoreOp, ir::StoreOp>(op))
      return rewriteStore(op), success();
    if (auto reduce = dyn_cast<ir::ReduceOp>(op))
      return rewriteReduce(reduce), success();
    if (llvm::none_of(op->getResults(), isTile))
      return isa_and_present<ir::TileDialect>(op->getDialect()) ? rewriteAlike(op) : void(),
             success();
    if (auto histogram = dyn_cast<ir::HistogramOp>(op))
      return rewriteHistogram(histogram), success();
    return claims_.of(firstTile(op->getResults())).layout ? rewriteInPlace(op) : success();
  }

  static Value firstTile(ValueRange values) {
    auto found = llvm::find_if(values, isTile);
    return found == values.end() ? Value() : *found;
  }

  // Operations with a claim, in whose terms each operand is wanted.
  LogicalResult rewriteInPlace(Operation *op) {
    gpu::LayoutAttr layout = claims_.of(firstTile(op->getResults())).layout;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get()))
        continue;
      gpu::LayoutAttr needed = tiles_.neededLayout(operand, layout);
      if (!needed)
        return ir::userError(op->emitOpError(), ErrorCode::Unsupported)
               << "cannot be laid out: an odd factor of an extent would not stay outermost in its "
                  "dimension; reshape so that odd factors keep their place";
      tiles_.setOperand(operand, needed);
    }
    for (Value value : op->getResults())
      if (isTile(value))
        tiles_.setLayout(value, layout);
    return success();
  }

  // The data go through shared memory and may lie anyhow; the mask lies as they do.
  void rewriteHistogram(ir::HistogramOp op) {
    gpu::LayoutAttr input = claims_.layoutOrDefault(op.getInput());
    for (OpOperand &operand : op->getOpOperands())
      tiles_.setOperand(operand, input);
    tiles_.setLayout(op.getResult(), claims_.layoutOrDefault(op.getResult()));
  }

  void rewriteControl(Operation *op) {
    auto set = [&](ValueRange values) {
      for (Value value : values)
        if (isTile(value))
          tiles_.setLayout(value, claims_.layoutOrDefault(value));
    };
    set(op->getResults());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      set(loop.getRegionIterArgs());
      for (auto [operand, arg] :
           llvm::zip_equal(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
        tiles_.setOperand(operand, gpu::encodingOf(arg.getType()));
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      set(loop.getBeforeArguments());
      set(loop.getAfterArguments());
      for (auto [operand, arg] : llvm::zip_equal(loop.getInitsMutable(), loop.getBeforeArguments()))
        tiles_.setOperand(operand, gpu::encodingOf(arg.getType()));
    }
  }

  void rewriteTerminator(Operation *op) {
    Operation *parent = op->getParentOp();
    ValueRange targets = parent->getResults();
    MutableOperandRange operands = isa<scf::ConditionOp>(op)
                                       ? cast<scf::ConditionOp>(op).getArgsMutable()
                                       : cast<scf::YieldOp>(op).getResultsMutable();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      targets = loop.getRegionIterArgs();
    else if (auto loop = dyn_cast<scf::WhileOp>(parent); loop && isa<scf::YieldOp>(op))
      targets = loop.getBeforeArguments();
    for (auto [operand, target] : llvm::zip_equal(operands, targets))
      if (isTile(target))
        tiles_.setOperand(operand, gpu::encodingOf(target.getType()));
  }

  // What enters and leaves functions lies as both sides agree on.
  void rewriteBoundary(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isTile(operand.get()))
        tiles_.setOperand(operand, claims_.boundaryLayout(operand.get()));
    for (Value result : op->getResults())
      if (isTile(result))
        tiles_.setLayout(result, claims_.boundaryLayout(result));
  }

  // A value that lies along the memory's fastest dimension is stored from where it is; others are
  // brought into order first.
  void rewriteStore(Operation *op) {
    Value value = op->getOperand(0);
    if (!isTile(value))
      return;
    gpu::LayoutAttr layout =
        gpu::coalescedLayout(op, cast<RankedTensorType>(value.getType()), claims_.numWarps());
    gpu::LayoutClaim claim = claims_.of(value);
    if (claim.strength == gpu::Strength::Access && liesAlong(claim.layout, op))
      layout = claim.layout;
    if (auto store = dyn_cast<ir::ViewStoreOp>(op);
        store && store.getAdds() && claim.strength == gpu::Strength::Product)
      layout = heldForAddition(claim.layout, store, layout);
    for (OpOperand &operand : op->getOpOperands())
      if (isTile(operand.get()))
        tiles_.setOperand(operand, layout);
  }

  // Neighbouring registers hold neighbours in memory; or each thread holds one element, and no
  // order is better.
  static bool liesAlong(gpu::LayoutAttr layout, Operation *access) {
    gpu::AccessAttr known = gpu::accessOf(access);
    ArrayRef<int32_t> first = layout.getRegisters();
    return known && gpu::isSeparable(layout) && (first.empty() || first[known.getOrder()[0]] == 1);
  }

  // Additions are carried out in the second-level cache, sector by sector: as threads hold the
  // tile, without an exchange. What a thread holds of neighbours it adds at once.
  static gpu::LayoutAttr heldForAddition(gpu::LayoutAttr held, ir::ViewStoreOp store,
                                         gpu::LayoutAttr coalesced) {
    gpu::AccessAttr access = gpu::accessOf(store);
    if (!access || !gpu::isSeparable(held))
      return coalesced;
    layout::Layout layout = gpu::layoutOf(ir::shapeOf(store.getValue().getType()), held);
    for (int64_t vector = access.getVector(); vector > 1; vector /= 2)
      if (auto renumbered = layout::withVectors(layout, access.getOrder().front(), vector);
          renumbered && renumbered->bases(layout::In::Lane) == layout.bases(layout::In::Lane))
        return gpu::attributeOf(store.getContext(), *renumbered);
    return held;
  }

  void rewriteReduce(ir::ReduceOp op) {
    gpu::LayoutAttr layout;
    for (Value operand : op->getOperands())
      if (!layout && claims_.of(operand).layout)
        layout = claims_.of(operand).layout;
    if (!layout)
      layout = claims_.layoutOrDefault(op->getOperand(0));
    layout = op.getReducibleLayout(layout);
    for (OpOperand &operand : op->getOpOperands())
      tiles_.setOperand(operand, layout);
    gpu::LayoutAttr result = gpu::resultLayout(op, layout);
    for (Value value : op->getResults())
      if (isTile(value))
        tiles_.setLayout(value, result);
  }

  // Operations without results take the elements of all tiles together: they lie as the first of
  // them that was claimed.
  void rewriteAlike(Operation *op) {
    gpu::LayoutAttr layout;
    for (Value value : op->getOperands())
      if (!layout && isTile(value))
        layout = claims_.of(value).layout;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get()))
        continue;
      if (!layout)
        layout = claims_.layoutOrDefault(operand.get());
      tiles_.setOperand(operand, layout);
    }
  }

  func::FuncOp function_;
  const LayoutClaims &claims_;
  TilesInLayouts tiles_;
};

} // namespace

LogicalResult rewriteToLayouts(func::FuncOp function, const LayoutClaims &claims) {
  return Rewriter(function, claims).rewrite();
}

} // namespace tile::passes
