// Global memory: views (addresses from coordinates, masks from bounds) and tiles of pointers.
#include "codegen/InlinePtx.h"
#include "codegen/lower/GlobalAccess.h"
#include "codegen/lower/ViewAccess.h"

#include "ir/annotations/AccessAnnotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

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
  ViewAccess access(l, op, load.getView(), load.getOffsets(), gpu::layoutOf(tile),
                    gpu::bytesOf(tile.getElementType()));
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
  ViewAccess access(l, op, store.getView(), store.getOffsets(), layout,
                    gpu::bytesOf(tile.getElementType()));
  Value isFirst = l.coordinates.isFirstHolder(layout);
  uint32_t duplicates = layout.freeMask(layout::In::Register);
  const Registers &values = l[store.getValue()];
  int64_t vector = access.vectorElements();
  for (size_t reg = 0; reg < values.size(); reg += vector) {
    if (reg & duplicates)
      continue;
    GlobalPlace place = access.place(reg);
    place.hints = AccessHints::of(store);
    place.predicate = bothTrue(l, op->getLoc(), isFirst, place.predicate);
    auto write = store.getAdds() ? addGlobal : storeGlobal;
    write(l, op->getLoc(), place, ArrayRef(values).slice(reg, vector));
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
    isFirst = l.coordinates.isFirstHolder(layout);
    vector = pointerVector(op, layout);
    duplicates = layout.freeMask(layout::In::Register);
  } else { // every thread holds a scalar: the first one stores it
    isFirst = arith::CmpIOp::create(l.b, op->getLoc(), arith::CmpIPredicate::eq, l.threads.id(),
                                    l.i32(0));
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
