#include "ir/annotations/AccessAnnotations.h"

#include "ir/annotations/AnnotationTable.h"

using namespace mlir;

namespace tile::gpu {

namespace {

constexpr llvm::StringLiteral kAccessName = "tilegpu.access";
constexpr llvm::StringLiteral kViewOfName = "tilegpu.view_of";

bool isViewAccess(Operation *op) {
  return isa<ir::ViewLoadOp, ir::ViewStoreOp, RingCopyOp, CopyAsyncOp, TensorCopyOp, TensorStoreOp>(
      op);
}

// The tile that an access moves or names; null if it is a scalar or the operation no such access.
RankedTensorType accessedTile(Operation *op) {
  if (isa<ir::ViewLoadOp, ir::LoadOp>(op))
    return dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<ir::ViewStoreOp, ir::StoreOp, ir::PrefetchOp>(op))
    return dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (auto copy = dyn_cast<RingCopyOp>(op))
    return RankedTensorType::get(copy.getShape(), copy.getView().getType().getElementType());
  if (auto copy = dyn_cast<CopyAsyncOp>(op))
    return RankedTensorType::get(copy.getShape(), copy.getView().getType().getElementType());
  if (auto copy = dyn_cast<TensorCopyOp>(op))
    return RankedTensorType::get(copy.getShape(), copy.getView().getType().getElementType());
  if (auto store = dyn_cast<TensorStoreOp>(op))
    return RankedTensorType::get(store.getShape(), store.getView().getType().getElementType());
  return {};
}

LogicalResult verifyAccess(Operation *op, Attribute value) {
  auto access = dyn_cast<AccessAttr>(value);
  if (!access)
    return op->emitOpError() << kAccessName << " must be a #tilegpu.access<...>, got " << value;
  RankedTensorType tile = accessedTile(op);
  if (!tile)
    return op->emitOpError() << kAccessName << " belongs on a load, store or prefetch of a tile";
  auto rank = static_cast<size_t>(tile.getRank());
  if (access.getOrder().size() != rank)
    return op->emitOpError() << kAccessName << " orders " << access.getOrder().size()
                             << " dimensions of a tile of rank " << rank;
  if (isViewAccess(op) == access.getBounds().empty())
    return op->emitOpError() << kAccessName
                             << (isViewAccess(op) ? " needs the bounds of an access of a view"
                                                  : " has bounds, but pointers have none");
  return success();
}

LogicalResult verifyViewOf(Operation *op, Attribute value) {
  auto viewOf = dyn_cast<ViewOfAttr>(value);
  auto view = dyn_cast<ir::MakeViewOp>(op);
  if (!viewOf || !view ||
      viewOf.getDims().size() != static_cast<size_t>(view.getResult().getType().getRank()))
    return op->emitOpError() << kViewOfName << " must be a #tilegpu.view_of<...> of its rank on a "
                             << "tile.make_view, got " << value;
  return success();
}

constexpr Annotation kAnnotations[] = {{kAccessName, verifyAccess}, {kViewOfName, verifyViewOf}};

} // namespace

ArrayRef<Annotation> accessAnnotations() { return kAnnotations; }

LogicalResult AccessAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int32_t> order, int32_t vector, ArrayRef<Bounds> bounds) {
  if (!ir::PermuteViewOp::isPermutation(order) || order.empty())
    return emitError() << "order must list each dimension once, got [" << order << ']';
  if (vector < 1 || !llvm::isPowerOf2_32(static_cast<uint32_t>(vector)))
    return emitError() << "vector must be a power of two, got " << vector;
  if (!bounds.empty() && bounds.size() != order.size())
    return emitError() << "bounds must name each of " << order.size() << " dimensions, got "
                       << bounds.size();
  return success();
}

static bool areDistinct(ArrayRef<int32_t> dims) {
  llvm::SmallDenseSet<int32_t> seen;
  return llvm::all_of(dims, [&](int32_t dim) { return dim >= 0 && seen.insert(dim).second; });
}

LogicalResult ViewOfAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t arg,
                                 ArrayRef<int32_t> dims) {
  if (arg < 0 || !areDistinct(dims))
    return emitError() << "a view is of distinct dimensions of an argument, got [" << dims
                       << "] of argument " << arg;
  return success();
}

AccessAttr accessOf(Operation *op) { return op->getAttrOfType<AccessAttr>(kAccessName); }

void setAccess(Operation *op, ArrayRef<int32_t> order, int64_t vector, ArrayRef<Bounds> bounds) {
  op->setAttr(kAccessName,
              AccessAttr::get(op->getContext(), order, static_cast<int32_t>(vector), bounds));
}

ViewOfAttr viewOf(ir::MakeViewOp view) { return view->getAttrOfType<ViewOfAttr>(kViewOfName); }

void setViewOf(ir::MakeViewOp view, int32_t arg, ArrayRef<int32_t> dims) {
  view->setAttr(kViewOfName, ViewOfAttr::get(view.getContext(), arg, dims));
}

} // namespace tile::gpu
