// Global memory: views (addresses from coordinates, masks from bounds) and tiles of pointers.
#include "codegen/InlinePtx.h"
#include "codegen/lower/GlobalAccess.h"

#include "ir/Annotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// Addresses and bounds checks of one access of a view. What depends on the thread is computed once; a register adds
/// constants, except along dimensions whose stride is known at run time only.
class ViewAccess {
public:
  ViewAccess(Lowering &l, Operation *op, Value view, ValueRange offsets, RankedTensorType tile)
      : l(l), loc(op->getLoc()), view(view.getDefiningOp<ir::MakeViewOp>()),
        layout(gpu::layoutOf(tile)), bytes(gpu::bytesOf(tile.getElementType())) {
    gpu::AccessAttr access = gpu::accessOf(op); // `Lowering::verify` has seen it
    vectorSize = vectorLength(layout, access.getOrder()[0], access.getVector());
    for (auto [dim, offset] : llvm::enumerate(offsets)) {
      Value thread = l.threadCoordinate(layout, dim);
      positions.push_back(arith::AddIOp::create(l.b, loc, l.scalar(offset), thread));
      checks.push_back(access.getBounds()[dim]);
      if (checks.back() == gpu::Bounds::WholeTile)
        wholeTile = bothTrue(l, loc, wholeTile, isBelow(l.scalar(offset), extent(dim)));
    }
    origin = elementPointer(l.scalar(this->view.getBase()), positions);
  }

  /// Elements a vector access moves.
  int64_t vectorElements() const { return vectorSize; }

  /// Where the vector that starts at a register lies, and when it may be touched.
  GlobalPlace place(int32_t reg) {
    GlobalPlace place{origin, 0, wholeTile};
    SmallVector<int64_t> steps; // of dimensions with a run-time stride
    for (int dim = 0; dim < layout.rank(); ++dim) {
      int64_t step = stepOf(dim, reg);
      if (isUnit(dim))
        place.byteOffset += step * bytes;
      steps.push_back(isUnit(dim) ? 0 : step);
      if (checks[dim] == gpu::Bounds::EachElement)
        place.predicate = bothTrue(l, loc, place.predicate, inBounds(dim, step));
    }
    place.pointer = rowPointer(steps);
    return place;
  }

private:
  Value extent(int dim) {
    Value value = l.scalar(view.getExtents()[dim]);
    if (value.getType().isInteger(64)) // extents arrive as i32 and were widened
      value = arith::TruncIOp::create(l.b, loc, l.b.getI32Type(), value);
    return value;
  }

  bool isUnit(int dim) {
    APInt constant;
    return matchPattern(view.getStrides()[dim], m_ConstantInt(&constant)) && constant.isOne();
  }

  // What a register adds to the thread's coordinate: bits the thread does not touch, so that XOR is addition.
  int64_t stepOf(int dim, int32_t reg) {
    Lowering::RegisterCoordinate part = Lowering::registerCoordinate(layout, dim, reg);
    return part.linear + part.odd;
  }

  // Negative positions are large unsigned ones: one comparison checks both sides.
  Value isBelow(Value position, Value extent) {
    return arith::CmpIOp::create(l.b, loc, arith::CmpIPredicate::ult, position, extent);
  }

  Value inBounds(int dim, int64_t step) {
    Value &known = boundsKnown[{dim, step}];
    if (!known) {
      Value position =
          step ? arith::AddIOp::create(l.b, loc, positions[dim], l.i32(step)).getResult()
               : positions[dim];
      known = isBelow(position, extent(dim));
    }
    return known;
  }

  // base + sum over dimensions of position * stride, in the width of the strides.
  Value elementPointer(Value base, ArrayRef<Value> at) {
    Value sum;
    for (auto [dim, position] : llvm::enumerate(at)) {
      Value stride = l.scalar(view.getStrides()[dim]);
      Value term = widen(position, stride.getType());
      if (!isUnit(dim))
        term = arith::MulIOp::create(l.b, loc, term, stride);
      sum = sum ? arith::AddIOp::create(l.b, loc, sum, term).getResult() : term;
    }
    return advance(base, sum);
  }

  Value widen(Value value, Type type) {
    return value.getType() == type ? value
                                   : arith::ExtSIOp::create(l.b, loc, type, value).getResult();
  }

  Value advance(Value pointer, Value elements) {
    Value wide = widen(elements, l.b.getI64Type());
    Type element = l.b.getIntegerType(bytes * 8);
    return LLVM::GEPOp::create(l.b, loc, pointer.getType(), element, pointer, ValueRange{wide});
  }

  Value rowPointer(ArrayRef<int64_t> steps) {
    if (llvm::all_of(steps, [](int64_t step) { return step == 0; }))
      return origin;
    Value &known = rowPointers[SmallVector<int64_t>(steps)];
    if (known)
      return known;
    Value sum;
    for (auto [dim, step] : llvm::enumerate(steps)) {
      if (step == 0)
        continue;
      Value stride = l.scalar(view.getStrides()[dim]);
      Value term = arith::MulIOp::create(l.b, loc, stride,
                                         l.integer(stride.getType().getIntOrFloatBitWidth(), step));
      sum = sum ? arith::AddIOp::create(l.b, loc, sum, term).getResult() : term;
    }
    return known = advance(origin, sum);
  }

  Lowering &l;
  Location loc;
  ir::MakeViewOp view;
  layout::Layout layout;
  int64_t bytes, vectorSize = 1;
  SmallVector<Value> positions;
  SmallVector<gpu::Bounds> checks;
  Value wholeTile, origin;
  std::map<std::pair<int, int64_t>, Value> boundsKnown;
  std::map<SmallVector<int64_t>, Value> rowPointers;
};

// What elements outside a view read as.
Value paddingOf(Lowering &l, ir::ViewLoadOp load) {
  Type element = ir::elementTypeOf(load.getResult().getType());
  TypedAttr value = cast<TypedAttr>(l.b.getZeroAttr(element));
  if (load.getPadding() == ir::Padding::Nan)
    value = l.b.getFloatAttr(element,
                             llvm::APFloat::getNaN(cast<FloatType>(element).getFloatSemantics()));
  return l.constant(load.getLoc(), value);
}

LogicalResult lowerViewLoad(Lowering &l, Operation *op) {
  auto load = cast<ir::ViewLoadOp>(op);
  auto tile = cast<RankedTensorType>(load.getResult().getType());
  ViewAccess access(l, op, load.getView(), load.getOffsets(), tile);
  Value padding = paddingOf(l, load);
  int64_t vector = access.vectorElements();
  Registers registers(Lowering::countOf(tile));
  for (size_t reg = 0; reg < registers.size(); reg += vector) {
    GlobalPlace place = access.place(reg);
    place.hints = AccessHints::of(load);
    Registers loaded = loadGlobal(l, op->getLoc(), place, SmallVector<Value>(vector, padding));
    llvm::copy(loaded, registers.begin() + reg);
  }
  l.set(load.getResult(), std::move(registers));
  return success();
}

LogicalResult lowerViewStore(Lowering &l, Operation *op) {
  auto store = cast<ir::ViewStoreOp>(op);
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  layout::Layout layout = gpu::layoutOf(tile);
  ViewAccess access(l, op, store.getView(), store.getOffsets(), tile);
  Value isFirst = l.isFirstHolder(layout);
  uint32_t duplicates = layout.freeMask(layout::In::Register);
  const Registers &values = l[store.getValue()];
  int64_t vector = access.vectorElements();
  for (size_t reg = 0; reg < values.size(); reg += vector) {
    if (reg & duplicates)
      continue;
    GlobalPlace place = access.place(reg);
    place.hints = AccessHints::of(store);
    place.predicate = bothTrue(l, op->getLoc(), isFirst, place.predicate);
    storeGlobal(l, op->getLoc(), place, ArrayRef(values).slice(reg, vector));
  }
  return success();
}

// Elements a vector access through a tile of pointers moves.
int64_t pointerVector(Operation *op, const layout::Layout &layout) {
  gpu::AccessAttr access = gpu::accessOf(op);
  return access ? vectorLength(layout, access.getOrder()[0], access.getVector()) : 1;
}

LogicalResult lowerLoad(Lowering &l, Operation *op) {
  auto load = cast<ir::LoadOp>(op);
  Type type = load.getResult().getType();
  size_t count = Lowering::countOf(type);
  int64_t vector = isa<RankedTensorType>(type) ? pointerVector(op, gpu::layoutOf(type)) : 1;
  Value zero = l.constant(op->getLoc(), cast<TypedAttr>(l.b.getZeroAttr(ir::elementTypeOf(type))));
  Registers registers(count);
  for (size_t reg = 0; reg < count; reg += vector) {
    GlobalPlace place{l[load.getPtr()][reg], 0, load.getMask() ? l[load.getMask()][reg] : Value(),
                      AccessHints::of(load)};
    SmallVector<Value> fill(vector, zero);
    if (load.getOther())
      llvm::copy(ArrayRef(l[load.getOther()]).slice(reg, vector), fill.begin());
    llvm::copy(loadGlobal(l, op->getLoc(), place, fill), registers.begin() + reg);
  }
  l.set(load.getResult(), std::move(registers));
  return success();
}

LogicalResult lowerStore(Lowering &l, Operation *op) {
  auto store = cast<ir::StoreOp>(op);
  Type type = store.getValue().getType();
  Value isFirst;
  int64_t vector = 1;
  uint32_t duplicates = 0;
  if (isa<RankedTensorType>(type)) {
    layout::Layout layout = gpu::layoutOf(type);
    isFirst = l.isFirstHolder(layout);
    vector = pointerVector(op, layout);
    duplicates = layout.freeMask(layout::In::Register);
  } else { // every thread holds a scalar: the first one stores it
    isFirst =
        arith::CmpIOp::create(l.b, op->getLoc(), arith::CmpIPredicate::eq, l.threadId(), l.i32(0));
  }
  const Registers &values = l[store.getValue()];
  for (size_t reg = 0; reg < values.size(); reg += vector) {
    if (reg & duplicates)
      continue;
    GlobalPlace place{l[store.getPtr()][reg], 0,
                      store.getMask() ? l[store.getMask()][reg] : Value(), AccessHints::of(store)};
    place.predicate = bothTrue(l, op->getLoc(), isFirst, place.predicate);
    storeGlobal(l, op->getLoc(), place, ArrayRef(values).slice(reg, vector));
  }
  return success();
}

// One prefetch a vector: what lies in its line comes along.
LogicalResult lowerPrefetch(Lowering &l, Operation *op) {
  auto prefetch = cast<ir::PrefetchOp>(op);
  Type type = prefetch.getPtr().getType();
  int64_t vector = isa<RankedTensorType>(type) ? pointerVector(op, gpu::layoutOf(type)) : 1;
  const Registers &pointers = l[prefetch.getPtr()];
  std::string text = "prefetch.global.L" + std::to_string(prefetch.getLevel()) + " [$0];";
  Type none = LLVM::LLVMVoidType::get(l.b.getContext());
  for (size_t reg = 0; reg < pointers.size(); reg += vector) {
    if (prefetch.getMask())
      inlineMemoryPtx(l.b, op->getLoc(), "@$1 " + text, "l,b", none,
                      {pointers[reg], l[prefetch.getMask()][reg]});
    else
      inlineMemoryPtx(l.b, op->getLoc(), text, "l", none, {pointers[reg]});
  }
  return success();
}

LogicalResult lowerAddPtr(Lowering &l, Operation *op) {
  auto add = cast<ir::AddPtrOp>(op);
  Type pointee = cast<ir::PtrType>(ir::elementTypeOf(add.getPtr().getType())).getPointeeType();
  Type step = l.b.getIntegerType(gpu::bytesOf(pointee) * 8);
  Registers results;
  for (auto [pointer, offset] : llvm::zip_equal(l[add.getPtr()], l[add.getOffset()])) {
    Value wide = offset;
    if (!offset.getType().isInteger(64))
      wide = arith::ExtSIOp::create(l.b, op->getLoc(), l.b.getI64Type(), offset);
    results.push_back(
        LLVM::GEPOp::create(l.b, op->getLoc(), pointer.getType(), step, pointer, ValueRange{wide}));
  }
  l.set(add.getResult(), std::move(results));
  return success();
}

// A view is looked at by its accesses; itself it is nothing.
LogicalResult lowerMakeView(Lowering &, Operation *) { return success(); }

constexpr LoweringRow kLowerings[] = {
    on<ir::AddPtrOp, lowerAddPtr>,       on<ir::LoadOp, lowerLoad>,
    on<ir::MakeViewOp, lowerMakeView>,   on<ir::PrefetchOp, lowerPrefetch>,
    on<ir::StoreOp, lowerStore>,         on<ir::ViewLoadOp, lowerViewLoad>,
    on<ir::ViewStoreOp, lowerViewStore>,
};

} // namespace

LoweringTable memoryLowerings() { return kLowerings; }

} // namespace tile::codegen
