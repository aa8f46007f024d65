// LowerViews: a view argument becomes what a launch passes (pointer, extents, strides), and each
// access of a view is annotated with its contiguous dimension, the width of its vectors, and the
// bounds checks that it needs.
#include "passes/Passes.h"

#include "ir/LayoutAttr.h"
#include "ir/UserError.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/layout/Shared.h"
#include "passes/analysis/AxisInfo.h"
#include "passes/analysis/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace tile::passes {
#define GEN_PASS_DEF_LOWERVIEWS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// Appends the arguments of the kernel's ABI that replace one argument of the source kernel.
class ArgumentExpander {
public:
  ArgumentExpander(func::FuncOp function, unsigned source)
      : function_(function), source_(source),
        builder_(OpBuilder::atBlockBegin(&function.getBody().front())) {}

  // Replaces a view by a `tile.make_view` of new arguments; the caller erases the view.
  void expandView(ir::ViewType type) {
    Location loc = function_.getArgument(source_).getLoc();
    auto alignment = function_.getArgAttrOfType<IntegerAttr>(source_, ir::kAlignmentAttr);
    Value base = append(ir::PtrType::get(builder_.getContext(), type.getElementType()),
                        ir::ParamKind::Pointer, -1,
                        alignment ? alignment.getInt() : gpu::bytesOf(type.getElementType()));
    SmallVector<Value> extents, strides;
    bool isWide = function_.getArgAttr(source_, ir::kWideAttr) != nullptr;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value extent = append(builder_.getI32Type(), ir::ParamKind::Extent, dim,
                            fact(ir::kExtentDivisibleAttr, dim));
      if (int64_t known = fact(ir::kExtentsAttr, dim, -1); known >= 0) // still passed by the launch
        extent = arith::ConstantOp::create(builder_, loc,
                                           builder_.getI32IntegerAttr(static_cast<int32_t>(known)));
      extents.push_back(
          isWide ? arith::ExtSIOp::create(builder_, loc, builder_.getI64Type(), extent) : extent);
    }
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      strides.push_back(makeStride(type, dim, isWide));
    auto view = ir::MakeViewOp::create(builder_, loc, type, base, extents, strides);
    gpu::setViewOf(view, static_cast<int32_t>(source_),
                   llvm::to_vector(llvm::seq(static_cast<int32_t>(type.getRank()))));
    function_.getArgument(source_).replaceAllUsesWith(view);
  }

  // A scalar or pointer stays as it is, but moves after the arguments that have been appended.
  void keep() {
    Type type = function_.getArgument(source_).getType();
    auto alignment = function_.getArgAttrOfType<IntegerAttr>(source_, ir::kAlignmentAttr);
    Value copy =
        append(type, isa<ir::PtrType>(type) ? ir::ParamKind::Pointer : ir::ParamKind::Scalar, -1,
               alignment ? alignment.getInt() : 1);
    function_.getArgument(source_).replaceAllUsesWith(copy);
  }

private:
  Value append(Type type, ir::ParamKind kind, int64_t dim, int64_t divisibility) {
    auto param = ir::ParamAttr::get(builder_.getContext(), kind, static_cast<int32_t>(source_),
                                    static_cast<int32_t>(dim));
    SmallVector<NamedAttribute> attributes = {builder_.getNamedAttr(ir::kParamAttr, param)};
    if (divisibility > 1)
      attributes.push_back(
          builder_.getNamedAttr(ir::kDivisibilityAttr, builder_.getI32IntegerAttr(divisibility)));
    if (Attribute aliases = function_.getArgAttr(source_, ir::kMayAliasAttr);
        aliases && kind == ir::ParamKind::Pointer)
      attributes.push_back(builder_.getNamedAttr(ir::kMayAliasAttr, aliases));
    if (Attribute name = function_.getArgAttr(source_, ir::kNameAttr);
        name && kind == ir::ParamKind::Pointer)
      attributes.push_back(builder_.getNamedAttr(ir::kNameAttr, name));
    unsigned index = function_.getNumArguments();
    (void)function_.insertArgument(index, type, builder_.getDictionaryAttr(attributes),
                                   function_.getArgument(source_).getLoc());
    return function_.getArgument(index);
  }

  int64_t fact(StringRef name, int64_t dim, int64_t unknown = 1) {
    auto facts = function_.getArgAttrOfType<DenseI64ArrayAttr>(source_, name);
    return facts && dim < facts.size() ? facts[dim] : unknown;
  }

  Value makeStride(ir::ViewType type, int64_t dim, bool isWide) {
    Type strideType = isWide ? builder_.getI64Type() : builder_.getI32Type();
    auto units = function_.getArgAttrOfType<DenseI32ArrayAttr>(source_, ir::kUnitStrideAttr);
    if (units && llvm::is_contained(units.asArrayRef(), dim))
      return arith::ConstantOp::create(builder_, function_.getLoc(),
                                       builder_.getIntegerAttr(strideType, 1));
    int64_t bytes = fact(ir::kStrideBytesDivisibleAttr, dim);
    return append(strideType, ir::ParamKind::Stride, dim,
                  std::max<int64_t>(1, bytes / gpu::bytesOf(type.getElementType())));
  }

  func::FuncOp function_;
  unsigned source_;
  OpBuilder builder_;
};

// The grid's symbols name arguments of the source kernel: renames them to the scalars that replaced
// these. `first` is the first new argument.
void remapGrid(func::FuncOp function, unsigned first) {
  auto symbols = function->getAttrOfType<ArrayAttr>(ir::kGridSymbolsAttr);
  if (!symbols)
    return;
  OpBuilder builder(function.getContext());
  auto place = [&](DenseI32ArrayAttr symbol) -> Attribute {
    for (unsigned i = first; i < function.getNumArguments(); ++i) {
      ir::ParamAttr param = ir::paramOf(function, i);
      bool isNumber =
          param.getKind() == ir::ParamKind::Scalar || param.getKind() == ir::ParamKind::Extent;
      if (isNumber && param.getArg() == symbol[0] && param.getDim() == symbol[1])
        return builder.getDenseI32ArrayAttr({static_cast<int32_t>(i - first), -1});
    }
    return symbol;
  };
  SmallVector<Attribute> remapped;
  for (Attribute symbol : symbols)
    remapped.push_back(place(cast<DenseI32ArrayAttr>(symbol)));
  function->setAttr(ir::kGridSymbolsAttr, builder.getArrayAttr(remapped));
}

void expandArguments(func::FuncOp function) {
  unsigned count = function.getNumArguments();
  for (unsigned i = 0; i < count; ++i) {
    ArgumentExpander expander(function, i);
    if (auto view = dyn_cast<ir::ViewType>(function.getArgument(i).getType()))
      expander.expandView(view);
    else
      expander.keep();
  }
  remapGrid(function, count);
  BitVector originals(function.getNumArguments());
  originals.set(0, count);
  (void)function.eraseArguments(originals);
}

Value castTo(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (type.getIntOrFloatBitWidth() < value.getType().getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}

ir::MakeViewOp permute(OpBuilder &builder, ir::PermuteViewOp op, ir::MakeViewOp view) {
  SmallVector<Value> extents, strides;
  SmallVector<int32_t> dims;
  gpu::ViewOfAttr source = gpu::viewOf(view);
  for (int32_t dim : op.getOrder()) {
    extents.push_back(view.getExtents()[dim]);
    strides.push_back(view.getStrides()[dim]);
    if (source)
      dims.push_back(source.getDims()[dim]);
  }
  auto permuted = ir::MakeViewOp::create(builder, op.getLoc(), op.getResult().getType(),
                                         view.getBase(), extents, strides);
  if (source)
    gpu::setViewOf(permuted, source.getArg(), dims);
  return permuted;
}

// Folds queries of a view to the operands of its `make_view`.
LogicalResult foldViewQueries(func::FuncOp function) {
  SmallVector<Operation *> queries;
  function.walk([&](Operation *op) {
    if (isa<ir::DimOp, ir::StrideOp, ir::BaseOp, ir::PermuteViewOp>(op))
      queries.push_back(op);
  });
  for (Operation *op : queries) {
    auto view = op->getOperand(0).getDefiningOp<ir::MakeViewOp>();
    if (!view)
      return ir::userError(op->emitOpError(), ErrorCode::Unsupported)
             << "needs a view that is an argument of the kernel";
    OpBuilder builder(op);
    Type type = op->getResult(0).getType();
    Value value;
    if (auto dim = dyn_cast<ir::DimOp>(op)) {
      value = castTo(builder, op->getLoc(), view.getExtents()[dim.getDim()], type);
    } else if (auto stride = dyn_cast<ir::StrideOp>(op)) {
      value = castTo(builder, op->getLoc(), view.getStrides()[stride.getDim()], type);
    } else if (isa<ir::BaseOp>(op)) {
      value = view.getBase();
    } else {
      value = permute(builder, cast<ir::PermuteViewOp>(op), view);
    }
    op->replaceAllUsesWith(ValueRange{value});
    op->erase();
  }
  return success();
}

bool isUnit(Value stride) {
  APInt constant;
  return matchPattern(stride, m_ConstantInt(&constant)) && constant.isOne();
}

struct AccessFacts {
  SmallVector<int32_t> order;
  SmallVector<gpu::Bounds> bounds;
  int64_t vector = 1;
};

class AccessAnalyzer {
public:
  // `offsets` are those of the tile's first element, `tile` its type.
  AccessFacts analyze(ir::MakeViewOp view, ValueRange offsets, RankedTensorType tile,
                      bool isUnchecked) {
    AccessFacts facts;
    facts.order = memoryOrder(view);
    for (int64_t dim = 0; dim < tile.getRank(); ++dim)
      facts.bounds.push_back(boundsOf(view, offsets[dim], tile.getDimSize(dim), dim, isUnchecked));
    facts.vector = vectorOf(view, offsets, tile, facts);
    return facts;
  }

private:
  // The dimensions from the fastest varying: those of unit stride first, the others from the last
  // to the first.
  SmallVector<int32_t> memoryOrder(ir::MakeViewOp view) {
    SmallVector<int32_t> order;
    auto rank = static_cast<int32_t>(view.getStrides().size());
    for (int32_t dim = rank; dim-- > 0;)
      if (isUnit(view.getStrides()[dim]))
        order.push_back(dim);
    for (int32_t dim = rank; dim-- > 0;)
      if (!isUnit(view.getStrides()[dim]))
        order.push_back(dim);
    return order;
  }

  // A tile is inside or outside as a whole if its extent divides both its offset and the view's
  // extent.
  gpu::Bounds boundsOf(ir::MakeViewOp view, Value offset, int64_t extent, int64_t dim,
                       bool isUnchecked) {
    if (isUnchecked)
      return gpu::Bounds::None;
    bool divides = isMultiple(offset, extent) && isMultiple(view.getExtents()[dim], extent);
    return divides ? gpu::Bounds::WholeTile : gpu::Bounds::EachElement;
  }

  // Odd tile extents (96 = 32 * 3) need more than the powers of two of AxisInfo: constant factors
  // and declared divisors count, too.
  bool isMultiple(Value value, int64_t extent) {
    if (axis_.divisibilityOf(value) % extent == 0)
      return true;
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue() % extent == 0;
    if (auto product = value.getDefiningOp<arith::MulIOp>())
      return isMultiple(product.getLhs(), extent) || isMultiple(product.getRhs(), extent);
    if (auto extended = value.getDefiningOp<arith::ExtSIOp>())
      return isMultiple(extended.getIn(), extent);
    auto argument = dyn_cast<BlockArgument>(value);
    auto function =
        argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    return function && ir::divisorOf(function, argument.getArgNumber()) % extent == 0;
  }

  int64_t vectorOf(ir::MakeViewOp view, ValueRange offsets, RankedTensorType tile,
                   const AccessFacts &facts) {
    int32_t fastest = facts.order.front();
    if (!isUnit(view.getStrides()[fastest]))
      return 1;
    int64_t bytes = gpu::bytesOf(tile.getElementType());
    int64_t vector =
        std::min(layout::kMaxVectorBytes / bytes, powerOfTwoDivisor(tile.getDimSize(fastest)));
    vector = std::min(vector, std::max<int64_t>(1, axis_.divisibilityOf(view.getBase()) / bytes));
    for (int64_t dim = 0; dim < tile.getRank(); ++dim) {
      int64_t offsetDivisor = axis_.divisibilityOf(offsets[dim]);
      bool isFastest = dim == fastest;
      // Other dimensions advance by multiples of their stride, which must keep the alignment.
      vector = std::min(vector,
                        isFastest ? offsetDivisor : axis_.divisibilityOf(view.getStrides()[dim]));
    }
    if (facts.bounds[fastest] == gpu::Bounds::EachElement)
      vector = std::min(vector, axis_.divisibilityOf(view.getExtents()[fastest]));
    return vector;
  }

  AxisInfoAnalysis axis_;
};

// Later passes only know structured control flow.
LogicalResult verifyControlFlow(func::FuncOp function) {
  if (failed(verifyOneBlock(function)))
    return failure();
  WalkResult result = function.walk([&](Operation *op) {
    if (op == function || op->getNumRegions() == 0 ||
        isa<scf::ForOp, scf::IfOp, scf::WhileOp, ir::ReduceOp, ir::ScanOp>(op))
      return WalkResult::advance();
    ir::userError(op->emitOpError(), ErrorCode::Unsupported)
        << "is not supported in a kernel; its control flow is scf.for, scf.if and scf.while";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct LowerViews : passes::impl::LowerViewsBase<LowerViews> {
  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(ir::kKernelAttr) || function.isExternal())
      return;
    if (failed(verifyControlFlow(function)))
      return signalPassFailure();
    expandArguments(function);
    if (failed(foldViewQueries(function)))
      return signalPassFailure();
    AccessAnalyzer analyzer;
    WalkResult result = function.walk([&](Operation *op) {
      if (auto load = dyn_cast<ir::ViewLoadOp>(op))
        return annotateAccess(analyzer, op, load.getView(), load.getOffsets(),
                              load.getResult().getType(), load.getUnchecked());
      if (auto store = dyn_cast<ir::ViewStoreOp>(op))
        return annotateAccess(analyzer, op, store.getView(), store.getOffsets(),
                              store.getValue().getType(), store.getUnchecked());
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  WalkResult annotateAccess(AccessAnalyzer &analyzer, Operation *op, Value view, ValueRange offsets,
                            Type tile, bool isUnchecked) {
    auto makeView = view.getDefiningOp<ir::MakeViewOp>();
    if (!makeView) {
      ir::userError(op->emitOpError(), ErrorCode::Unsupported)
          << "needs a view that is an argument of the kernel";
      return WalkResult::interrupt();
    }
    AccessFacts facts =
        analyzer.analyze(makeView, offsets, cast<RankedTensorType>(tile), isUnchecked);
    gpu::setAccess(op, facts.order, facts.vector, facts.bounds);
    return WalkResult::advance();
  }
};

} // namespace

} // namespace tile::passes
