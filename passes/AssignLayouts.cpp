// AssignLayouts: first decides, then rewrites. Accesses and products ask for layouts of their own; these flow forward
// through the operations that keep data in place, the stronger claim winning, until nothing changes. Values without a
// claim (constants, aranges, splats, broadcasts and what is made of them alone) are made where they are needed, in the
// layout that is needed.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/Callable.h"
#include "ir/DotLayouts.h"
#include "ir/LayoutAttr.h"
#include "ir/Target.h"
#include "ir/UserError.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

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

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

using gpu::LayoutClaim;
using gpu::LayoutOp;
using gpu::Strength;

// --- Deciding ---------------------------------------------------------------------------------------------------

class Claims {
public:
  explicit Claims(func::FuncOp function) : function_(function), warps_(ir::warpsOf(function)) {}

  LogicalResult decide() {
    WalkResult known = function_.walk([](Operation *op) {
      if (!llvm::any_of(op->getResults(), isTile) || isUnderstood(op))
        return WalkResult::advance();
      ir::userError(op->emitOpError(), ErrorCode::Unsupported)
          << "makes tiles, but how they lie over threads is not known for this operation";
      return WalkResult::interrupt();
    });
    if (known.wasInterrupted())
      return failure();
    WalkResult checked = function_.walk([&](ir::DotOp dot) {
      if (gpu::layoutsOf(dot))
        return WalkResult::advance();
      dot.emitOpError("the chosen variant has no layout for these shapes");
      return WalkResult::interrupt();
    });
    if (checked.wasInterrupted())
      return failure();
    if (function_->hasAttr(ir::kCallableAttr))
      for (Value argument : function_.getArguments())
        claim(argument, boundaryClaim(argument));
    do {
      changed_ = false;
      function_.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    } while (changed_);
    return success();
  }

  LayoutClaim of(Value value) const { return claims_.lookup(value); }

  /// What callers and callees agree on for arguments and results, without asking: the default layout.
  gpu::LayoutAttr boundaryLayout(Value value) const {
    return gpu::defaultLayout(cast<RankedTensorType>(value.getType()), warps_);
  }

  /// The claimed layout, else the default one.
  gpu::LayoutAttr layoutOrDefault(Value value) const {
    LayoutClaim claim = of(value);
    return claim.layout ? claim.layout
                        : gpu::defaultLayout(cast<RankedTensorType>(value.getType()), warps_);
  }

  int64_t numWarps() const { return warps_; }

private:
  static bool isUnderstood(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    bool isMade = isa_and_present<ir::TileDialect>(op->getDialect()) &&
                  llvm::none_of(op->getOperands(), isTile); // of scalars: in any layout
    return isa<arith::ConstantOp, scf::ForOp, scf::IfOp, scf::WhileOp, LayoutOp>(op) || isMade ||
           (call && ir::callableOf(call)) || gpu::isElementwiseOnTiles(op) ||
           isa_and_present<gpu::TileGpuDialect>(op->getDialect());
  }

  void claim(Value value, LayoutClaim next) {
    LayoutClaim &current = claims_[value];
    if (!isTile(value) || !next.layout || next.strength <= current.strength)
      return;
    current = next;
    changed_ = true;
  }

  LayoutClaim boundaryClaim(Value value) const {
    return isTile(value) ? LayoutClaim{boundaryLayout(value), Strength::Default} : LayoutClaim();
  }

  LayoutClaim strongest(ValueRange values) const {
    LayoutClaim best;
    for (Value value : values)
      if (isTile(value) && of(value) > best)
        best = of(value);
    return best;
  }

  void visitLoop(scf::ForOp loop) {
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

  void visitWhile(scf::WhileOp loop) {
    for (auto [init, before, yielded] : llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(),
                                                        loop.getYieldOp().getOperands()))
      claimVariable({before}, {init, yielded, before});
    for (auto [passed, after, result] : llvm::zip_equal(
             loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults()))
      claimVariable({after, result}, {passed, after, result});
  }

  void visitIf(scf::IfOp op) {
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      claimVariable({result}, {op.thenYield().getOperand(i), op.elseYield().getOperand(i), result});
  }

  void claimVariable(ArrayRef<Value> targets, ArrayRef<Value> sources) {
    if (!isTile(targets.front()))
      return;
    LayoutClaim best = strongest(sources);
    if (best.strength == Strength::None)
      best = {layoutOrDefault(targets.front()), Strength::Default};
    for (Value target : targets)
      claim(target, best);
  }

  void visit(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitLoop(loop);
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
  void claimResults(Operation *op, const LayoutClaim &source) {
    gpu::LayoutAttr result = gpu::resultLayout(op, source.layout);
    for (Value value : op->getResults())
      if (isTile(value))
        claim(value, result ? LayoutClaim{result, source.strength, source.wordElements}
                            : LayoutClaim{layoutOrDefault(value), Strength::Default});
  }

  func::FuncOp function_;
  int64_t warps_;
  bool changed_ = false;
  DenseMap<Value, LayoutClaim> claims_;
};

// --- Rewriting --------------------------------------------------------------------------------------------------

class Rewriter {
public:
  Rewriter(func::FuncOp function, const Claims &claims)
      : function_(function), claims_(claims), builder_(function) {}

  LogicalResult rewrite() {
    bool isCalled = function_->hasAttr(ir::kCallableAttr);
    for (Value argument : function_.getArguments())
      if (isCalled && isTile(argument))
        setLayout(argument, claims_.boundaryLayout(argument));
    SmallVector<Operation *> ops;
    function_.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(rewrite(op)))
        return failure();
    eraseUnlaid(ops);
    if (isCalled)
      function_.setType(
          FunctionType::get(function_.getContext(), function_.getBody().getArgumentTypes(),
                            function_.getBody().front().getTerminator()->getOperandTypes()));
    return success();
  }

private:
  /// Was nothing claimed for the value, so that it is made where needed?
  bool isMadeOnDemand(Value value) const {
    return isTile(value) && !gpu::encodingOf(value.getType()) && value.getDefiningOp();
  }

  /// The value in a layout: itself, made anew, or converted.
  Value inLayout(Value value, gpu::LayoutAttr layout) {
    if (!isTile(value) || gpu::encodingOf(value.getType()) == layout)
      return value;
    Value &made = inLayouts_[{value, layout}];
    if (!made) {
      Value fresh = isMadeOnDemand(value) ? remake(value, layout) : convert(value, layout);
      inLayouts_[{value, layout}] = fresh; // the map may have grown
      return fresh;
    }
    return made;
  }

  Value convert(Value value, gpu::LayoutAttr layout) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointAfterValue(value);
    return gpu::ConvertLayoutOp::create(builder_, value.getLoc(),
                                        gpu::withLayout(value.getType(), layout), value);
  }

  /// The layout a tile operand needs for results in `layout`; its own if it may lie anyhow, null if there is none.
  gpu::LayoutAttr neededLayout(OpOperand &operand, gpu::LayoutAttr layout) const {
    if (!isTile(operand.get()))
      return {};
    return gpu::takesAnyLayout(operand) ? claims_.layoutOrDefault(operand.get())
                                        : gpu::operandLayout(operand, layout);
  }

  Value remake(Value value, gpu::LayoutAttr layout) {
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      gpu::LayoutAttr needed = neededLayout(operand, layout);
      if (isTile(operand.get()) &&
          !needed) { // the algebra refuses: through a layout both sides know
        gpu::LayoutAttr fallback = claims_.layoutOrDefault(value);
        return fallback == layout ? Value() : convert(inLayout(value, fallback), layout);
      }
      operands.push_back(needed ? inLayout(operand.get(), needed) : operand.get());
    }
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointAfterValue(value);
    IRMapping mapping;
    for (auto [from, to] : llvm::zip_equal(op->getOperands(), operands))
      mapping.map(from, to);
    Operation *clone = builder_.clone(*op, mapping);
    setLayout(clone->getResult(0), layout);
    return clone->getResult(0);
  }

  void setLayout(Value value, gpu::LayoutAttr layout) {
    RankedTensorType type = gpu::withLayout(value.getType(), layout);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
    value.setType(type);
  }

  void setOperand(OpOperand &operand, gpu::LayoutAttr layout) {
    operand.set(inLayout(operand.get(), layout));
  }

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
      gpu::LayoutAttr needed = neededLayout(operand, layout);
      if (!needed)
        return ir::userError(op->emitOpError(), ErrorCode::Unsupported)
               << "cannot be laid out: an odd factor of an extent would not stay outermost in its "
                  "dimension; reshape so that odd factors keep their place";
      setOperand(operand, needed);
    }
    for (Value value : op->getResults())
      if (isTile(value))
        setLayout(value, layout);
    return success();
  }

  // The data go through shared memory and may lie anyhow; the mask lies as they do.
  void rewriteHistogram(ir::HistogramOp op) {
    gpu::LayoutAttr input = claims_.layoutOrDefault(op.getInput());
    for (OpOperand &operand : op->getOpOperands())
      setOperand(operand, input);
    setLayout(op.getResult(), claims_.layoutOrDefault(op.getResult()));
  }

  void rewriteControl(Operation *op) {
    auto set = [&](ValueRange values) {
      for (Value value : values)
        if (isTile(value))
          setLayout(value, claims_.layoutOrDefault(value));
    };
    set(op->getResults());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      set(loop.getRegionIterArgs());
      for (auto [operand, arg] :
           llvm::zip_equal(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
        setOperand(operand, gpu::encodingOf(arg.getType()));
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      set(loop.getBeforeArguments());
      set(loop.getAfterArguments());
      for (auto [operand, arg] : llvm::zip_equal(loop.getInitsMutable(), loop.getBeforeArguments()))
        setOperand(operand, gpu::encodingOf(arg.getType()));
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
        setOperand(operand, gpu::encodingOf(target.getType()));
  }

  // What enters and leaves functions lies as both sides agree on.
  void rewriteBoundary(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isTile(operand.get()))
        setOperand(operand, claims_.boundaryLayout(operand.get()));
    for (Value result : op->getResults())
      if (isTile(result))
        setLayout(result, claims_.boundaryLayout(result));
  }

  // A value that lies along the memory's fastest dimension is stored from where it is; others are brought into order first.
  void rewriteStore(Operation *op) {
    Value value = op->getOperand(0);
    if (!isTile(value))
      return;
    gpu::LayoutAttr layout =
        gpu::coalescedLayout(op, cast<RankedTensorType>(value.getType()), claims_.numWarps());
    LayoutClaim claim = claims_.of(value);
    if (claim.strength == Strength::Access && liesAlong(claim.layout, op))
      layout = claim.layout;
    for (OpOperand &operand : op->getOpOperands())
      if (isTile(operand.get()))
        setOperand(operand, layout);
  }

  // Neighbouring registers hold neighbours in memory; or each thread holds one element, and no order is better.
  static bool liesAlong(gpu::LayoutAttr layout, Operation *access) {
    gpu::AccessAttr known = gpu::accessOf(access);
    ArrayRef<int32_t> first = layout.getRegisters();
    return known && gpu::isSeparable(layout) && (first.empty() || first[known.getOrder()[0]] == 1);
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
      setOperand(operand, layout);
    gpu::LayoutAttr result = gpu::resultLayout(op, layout);
    for (Value value : op->getResults()) {
      if (!isTile(value))
        continue;
      setLayout(value, result);
    }
  }

  // Operations without results take the elements of all tiles together: they lie as the first of them that was claimed.
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
      setOperand(operand, layout);
    }
  }

  // What was made on demand is replaced; the originals go, users first. (Divisions are not "pure": they
  // cannot be moved to where they would not run.)
  void eraseUnlaid(ArrayRef<Operation *> ops) {
    for (Operation *op : llvm::reverse(ops))
      if (op->getNumResults() == 1 && isTile(op->getResult(0)) &&
          !gpu::encodingOf(op->getResult(0).getType()) && op->use_empty() && isMemoryEffectFree(op))
        op->erase();
  }

  func::FuncOp function_;
  const Claims &claims_;
  OpBuilder builder_;
  DenseMap<std::pair<Value, Attribute>, Value> inLayouts_;
};

/// A tile of more registers than this times a thread's would be spilled as a whole, after minutes in the assembler.
constexpr int64_t kMostSpilled = 2;

// Tiles no thread can hold are refused here, where the layout first says how many registers they take.
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
    Claims claims(getOperation());
    if (failed(claims.decide()) || failed(Rewriter(getOperation(), claims).rewrite()))
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
