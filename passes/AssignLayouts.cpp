// AssignLayouts: first decides, then rewrites. Accesses and products ask for layouts of their own; these flow forward
// through the operations that keep data in place, the stronger claim winning, until nothing changes. Values without a
// claim (constants, aranges, splats, broadcasts and what is made of them alone) are made where they are needed, in the
// layout that is needed.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/Callable.h"
#include "ir/LayoutAttr.h"
#include "ir/Target.h"
#include "ir/UserError.h"
#include "passes/analysis/DotLayouts.h"
#include "passes/analysis/LayoutInference.h"
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

// Operations that take their elements together, wherever they lie.
bool isOneLayoutThroughout(Operation *op) {
  return isa<ir::AssertOp, ir::PrintOp, ir::PrefetchOp, ir::InlinePtxOp, ir::InlineCudaOp>(op);
}

/// How much a layout is worth keeping: a product's accumulator cannot be elsewhere, an access would be slower.
enum class Strength { None, Default, Access, Product };

struct Claim {
  gpu::LayoutAttr layout;
  Strength strength = Strength::None;
  /// Elements that a thread accesses as one full word; 0 if that is not how the access goes.
  int64_t wordElements = 0;

  /// Of two accesses by words the one of wider elements counts: narrower ones in its layout still use whole sectors;
  /// the other way round each of its accesses would skip half of them or more.
  bool operator>(const Claim &other) const {
    if (strength != other.strength)
      return strength > other.strength;
    return wordElements > 0 && wordElements < other.wordElements;
  }
};

// --- Deciding ---------------------------------------------------------------------------------------------------

class Claims {
public:
  explicit Claims(func::FuncOp function) : function(function), warps(ir::warpsOf(function)) {}

  LogicalResult decide() {
    WalkResult known = function.walk([](Operation *op) {
      if (!llvm::any_of(op->getResults(), isTile) || isUnderstood(op))
        return WalkResult::advance();
      ir::userError(op->emitOpError(), ErrorCode::Unsupported)
          << "makes tiles, but how they lie over threads is not known for this operation";
      return WalkResult::interrupt();
    });
    if (known.wasInterrupted())
      return failure();
    WalkResult checked = function.walk([&](ir::DotOp dot) {
      if (layoutsOf(dot))
        return WalkResult::advance();
      dot.emitOpError("the chosen variant has no layout for these shapes");
      return WalkResult::interrupt();
    });
    if (checked.wasInterrupted())
      return failure();
    if (function->hasAttr(ir::kCallableAttr))
      for (Value argument : function.getArguments())
        claim(argument, boundaryClaim(argument));
    do {
      changed = false;
      function.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    } while (changed);
    return success();
  }

  Claim of(Value value) const { return claims.lookup(value); }

  /// What callers and callees agree on for arguments and results, without asking: the default layout.
  gpu::LayoutAttr boundaryLayout(Value value) const {
    return defaultLayout(cast<RankedTensorType>(value.getType()), warps);
  }

  /// The claimed layout, else the default one.
  gpu::LayoutAttr layoutOrDefault(Value value) const {
    Claim claim = of(value);
    return claim.layout ? claim.layout
                        : defaultLayout(cast<RankedTensorType>(value.getType()), warps);
  }

  int64_t numWarps() const { return warps; }

private:
  static bool isUnderstood(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    return isa<arith::ConstantOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op) ||
           (call && ir::callableOf(call)) || isElementwiseOnTiles(op) ||
           isa_and_present<ir::TileDialect, gpu::TileGpuDialect>(op->getDialect());
  }

  void claim(Value value, Claim next) {
    Claim &current = claims[value];
    if (!isTile(value) || !next.layout || next.strength <= current.strength)
      return;
    current = next;
    changed = true;
  }

  Claim boundaryClaim(Value value) const {
    return isTile(value) ? Claim{boundaryLayout(value), Strength::Default} : Claim();
  }

  Claim strongest(ValueRange values) const {
    Claim best;
    for (Value value : values)
      if (isTile(value) && of(value) > best)
        best = of(value);
    return best;
  }

  // Values that are one variable at different times share a layout.
  void unify(ArrayRef<Value> values) {
    Claim best = strongest(values);
    for (Value value : values)
      claim(value, best);
  }

  void visitLoop(scf::ForOp loop) {
    for (auto [arg, init, yielded, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues(),
                         loop.getResults())) {
      Claim best = strongest({arg, init, yielded, result});
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
    Claim best = strongest(sources);
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
    if (isa<ir::ViewLoadOp, ir::LoadOp>(op) && isTile(op->getResult(0))) {
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      return claim(op->getResult(0),
                   {coalescedLayout(op, type, warps), Strength::Access, wordElements(op, type)});
    }
    if (auto dot = dyn_cast<ir::DotOp>(op))
      return claim(dot.getResult(),
                   {gpu::attributeOf(op->getContext(), layoutsOf(dot)->acc), Strength::Product});
    if (isa<ir::BroadcastOp, ir::ExpandDimsOp, ir::ResizeOp>(op))
      return; // made where they are needed
    Claim best = strongest(op->getOperands());
    if (isOneLayoutThroughout(op)) {
      for (Value value : op->getResults())
        if (isTile(value))
          claim(value, orDefault(best, value));
      return;
    }
    if (isa<ir::ReduceOp, ir::FlipOp, ir::ScanOp>(op) && best.strength == Strength::None)
      best = {layoutOrDefault(op->getOperand(0)), Strength::Default};
    if (auto gather = dyn_cast<ir::GatherOp>(op))
      return claim(gather.getResult(), orDefault(of(gather.getIndices()), gather.getResult()));
    if (auto histogram = dyn_cast<ir::HistogramOp>(op))
      return claim(histogram.getResult(), orDefault({}, histogram.getResult()));
    if (isa<ir::AtomicRmwOp, ir::AtomicCasOp>(op))
      return claim(op->getResult(0),
                   best.layout ? best : Claim{atomicLayout(op), Strength::Access});
    if (best.strength == Strength::None)
      return;
    gpu::LayoutAttr result = resultLayout(op, best.layout);
    for (Value value : op->getResults())
      if (isTile(value))
        claim(value, result ? Claim{result, best.strength, best.wordElements}
                            : Claim{layoutOrDefault(value), Strength::Default});
  }

  static int64_t wordElements(Operation *access, RankedTensorType tile) {
    gpu::AccessAttr known = gpu::accessOf(access);
    int64_t vector = known ? known.getVector() : 0;
    return vector * gpu::bytesOf(tile.getElementType()) >= layout::kMaxVectorBytes ? vector : 0;
  }

  Claim orDefault(Claim claim, Value value) const {
    return claim.layout ? claim : Claim{layoutOrDefault(value), Strength::Default};
  }

  // Atomics go element by element: neighbours in neighbouring lanes.
  gpu::LayoutAttr atomicLayout(Operation *op) const {
    auto tile = cast<RankedTensorType>(op->getResult(0).getType());
    layout::Shape shape(tile.getShape().begin(), tile.getShape().end());
    std::vector<int32_t> order;
    for (int32_t dim = tile.getRank(); dim-- > 0;)
      order.push_back(dim);
    return gpu::attributeOf(op->getContext(), layout::Layout::coalesced(shape, order, 1, warps));
  }

  func::FuncOp function;
  int64_t warps;
  bool changed = false;
  DenseMap<Value, Claim> claims;
};

// --- Rewriting --------------------------------------------------------------------------------------------------

class Rewriter {
public:
  Rewriter(func::FuncOp function, const Claims &claims)
      : function(function), claims(claims), builder(function) {}

  LogicalResult rewrite() {
    bool isCalled = function->hasAttr(ir::kCallableAttr);
    for (Value argument : function.getArguments())
      if (isCalled && isTile(argument))
        setLayout(argument, claims.boundaryLayout(argument));
    SmallVector<Operation *> ops;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (failed(rewrite(op)))
        return failure();
    eraseUnlaid(ops);
    if (isCalled)
      function.setType(
          FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(),
                            function.getBody().front().getTerminator()->getOperandTypes()));
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
    Value &made = inLayouts[{value, layout}];
    if (!made) {
      Value fresh = isMadeOnDemand(value) ? remake(value, layout) : convert(value, layout);
      inLayouts[{value, layout}] = fresh; // the map may have grown
      return fresh;
    }
    return made;
  }

  Value convert(Value value, gpu::LayoutAttr layout) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    return gpu::ConvertLayoutOp::create(builder, value.getLoc(),
                                        gpu::withLayout(value.getType(), layout), value);
  }

  /// The layout an operand needs; what is resized goes through shared memory and may lie anyhow.
  gpu::LayoutAttr neededLayout(OpOperand &operand, gpu::LayoutAttr layout) const {
    if (!isTile(operand.get()))
      return {};
    return isa<ir::ResizeOp>(operand.getOwner()) ? claims.layoutOrDefault(operand.get())
                                                 : operandLayout(operand, layout);
  }

  Value remake(Value value, gpu::LayoutAttr layout) {
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      gpu::LayoutAttr needed = neededLayout(operand, layout);
      if (isTile(operand.get()) &&
          !needed) { // the algebra refuses: through a layout both sides know
        gpu::LayoutAttr fallback = claims.layoutOrDefault(value);
        return fallback == layout ? Value() : convert(inLayout(value, fallback), layout);
      }
      operands.push_back(needed ? inLayout(operand.get(), needed) : operand.get());
    }
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    IRMapping mapping;
    for (auto [from, to] : llvm::zip_equal(op->getOperands(), operands))
      mapping.map(from, to);
    Operation *clone = builder.clone(*op, mapping);
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
        (isa<func::ReturnOp>(op) && function->hasAttr(ir::kCallableAttr)))
      return rewriteBoundary(op), success();
    if (auto dot = dyn_cast<ir::DotOp>(op))
      return rewriteDot(dot), success();
    if (isa<ir::ViewStoreOp, ir::StoreOp>(op))
      return rewriteStore(op), success();
    if (auto reduce = dyn_cast<ir::ReduceOp>(op))
      return rewriteReduce(reduce), success();
    if (isa<ir::ScanOp>(op))
      return rewriteScan(op), success();
    if (isOneLayoutThroughout(op))
      return rewriteAlike(op), success();
    if (isa<ir::ItemOp>(op)) // every thread of any layout holds the element
      return setOperand(op->getOpOperand(0), claims.layoutOrDefault(op->getOperand(0))), success();
    if (op->getNumResults() != 1 || !isTile(op->getResult(0)) ||
        !claims.of(op->getResult(0)).layout)
      return success();
    if (isa<ir::GatherOp, ir::HistogramOp>(op))
      return rewriteExchange(op), success();
    return rewriteInPlace(op);
  }

  // Loads, elementwise operations and changes of shape with a claim.
  LogicalResult rewriteInPlace(Operation *op) {
    gpu::LayoutAttr layout = claims.of(op->getResult(0)).layout;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get()))
        continue;
      gpu::LayoutAttr needed = isa<ir::LoadOp, ir::AtomicRmwOp, ir::AtomicCasOp>(op)
                                   ? layout
                                   : operandLayout(operand, layout);
      if (!needed)
        return ir::userError(op->emitOpError(), ErrorCode::Unsupported)
               << "cannot be laid out: an odd factor of an extent would not stay outermost in its "
                  "dimension; reshape so that odd factors keep their place";
      setOperand(operand, needed);
    }
    setLayout(op->getResult(0), layout);
    return success();
  }

  // Data go through shared memory: the first operand may lie anyhow, and what follows it lies as the result (indices of a
  // gather) or as the first (the mask of a histogram).
  void rewriteExchange(Operation *op) {
    gpu::LayoutAttr result = claims.of(op->getResult(0)).layout,
                    first = claims.layoutOrDefault(op->getOperand(0));
    setOperand(op->getOpOperand(0), first);
    for (OpOperand &operand : llvm::drop_begin(op->getOpOperands()))
      setOperand(operand, isa<ir::GatherOp>(op) ? result : first);
    setLayout(op->getResult(0), result);
  }

  void rewriteControl(Operation *op) {
    auto set = [&](ValueRange values) {
      for (Value value : values)
        if (isTile(value))
          setLayout(value, claims.layoutOrDefault(value));
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
        setOperand(operand, claims.boundaryLayout(operand.get()));
    for (Value result : op->getResults())
      if (isTile(result))
        setLayout(result, claims.boundaryLayout(result));
  }

  void rewriteDot(ir::DotOp dot) {
    DotLayouts layouts = *layoutsOf(dot);
    MLIRContext *context = dot.getContext();
    auto setFactor = [&](OpOperand &operand, const std::optional<layout::Layout> &fragment) {
      setOperand(operand, fragment ? gpu::attributeOf(context, *fragment)
                                   : claims.layoutOrDefault(operand.get()));
    };
    setFactor(dot.getAMutable(), layouts.a);
    setFactor(dot.getBMutable(), layouts.b);
    setOperand(dot.getAccMutable(), gpu::attributeOf(context, layouts.acc));
    setLayout(dot.getResult(), gpu::attributeOf(context, layouts.acc));
  }

  // A value that lies along the memory's fastest dimension is stored from where it is; others are brought into order first.
  void rewriteStore(Operation *op) {
    Value value = op->getOperand(0);
    if (!isTile(value))
      return;
    gpu::LayoutAttr layout =
        coalescedLayout(op, cast<RankedTensorType>(value.getType()), claims.numWarps());
    Claim claim = claims.of(value);
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
    return known && isSeparable(layout) && (first.empty() || first[known.getOrder()[0]] == 1);
  }

  void rewriteReduce(ir::ReduceOp op) {
    gpu::LayoutAttr layout;
    for (Value operand : op->getOperands())
      if (!layout && claims.of(operand).layout)
        layout = claims.of(operand).layout;
    if (!layout)
      layout = claims.layoutOrDefault(op->getOperand(0));
    layout = reducibleLayout(op, layout);
    for (OpOperand &operand : op->getOpOperands())
      setOperand(operand, layout);
    gpu::LayoutAttr result = resultLayout(op, layout);
    for (Value value : op->getResults()) {
      if (!isTile(value))
        continue;
      setLayout(value, result);
    }
  }

  // All tiles of the operation lie as its results were claimed, else as its first operand that was.
  void rewriteAlike(Operation *op) {
    gpu::LayoutAttr layout;
    for (Value value : llvm::concat<Value>(op->getResults(), op->getOperands()))
      if (!layout && isTile(value))
        layout = claims.of(value).layout;
    for (Value value : op->getOperands())
      if (!layout && isTile(value))
        layout = claims.layoutOrDefault(value);
    for (OpOperand &operand : op->getOpOperands())
      if (isTile(operand.get()))
        setOperand(operand, layout);
    for (Value value : op->getResults())
      if (isTile(value))
        setLayout(value, layout);
  }

  // All operands and results of a scan share the layout that was claimed for the results.
  void rewriteScan(Operation *op) {
    gpu::LayoutAttr layout = claims.layoutOrDefault(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands())
      setOperand(operand, layout);
    for (Value value : op->getResults())
      setLayout(value, layout);
  }

  // What was made on demand is replaced; the originals go, users first. (Divisions are not "pure": they
  // cannot be moved to where they would not run.)
  void eraseUnlaid(ArrayRef<Operation *> ops) {
    for (Operation *op : llvm::reverse(ops))
      if (op->getNumResults() == 1 && isTile(op->getResult(0)) &&
          !gpu::encodingOf(op->getResult(0).getType()) && op->use_empty() && isMemoryEffectFree(op))
        op->erase();
  }

  func::FuncOp function;
  const Claims &claims;
  OpBuilder builder;
  DenseMap<std::pair<Value, Attribute>, Value> inLayouts;
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
