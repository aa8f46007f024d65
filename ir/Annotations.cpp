#include "ir/Annotations.h"

#include "ir/DotLayouts.h"
#include "ir/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tile::ir {

ParamAttr paramOf(func::FuncOp function, unsigned argument) {
  return function.getArgAttrOfType<ParamAttr>(argument, kParamAttr);
}

int64_t divisorOf(func::FuncOp function, unsigned argument) {
  for (StringRef name : {kDivisibilityAttr, kAlignmentAttr})
    if (auto divisor = function.getArgAttrOfType<IntegerAttr>(argument, name))
      return divisor.getInt();
  return 1;
}

int64_t warpsOf(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  auto warps = function ? function->getAttrOfType<IntegerAttr>(kWarpsAttr) : IntegerAttr();
  return warps ? warps.getInt() : kDefaultWarps;
}

} // namespace tile::ir

namespace tile::gpu {

namespace {

constexpr llvm::StringLiteral kAccessName = "tilegpu.access";
constexpr llvm::StringLiteral kVariantName = "tilegpu.variant";
constexpr llvm::StringLiteral kWarpGridName = "tilegpu.warp_grid";
constexpr llvm::StringLiteral kScheduleName = "tilegpu.schedule";
constexpr llvm::StringLiteral kSharedBytesName = "tilegpu.shared_bytes";

bool isViewAccess(Operation *op) {
  return isa<ir::ViewLoadOp, ir::ViewStoreOp, RingCopyOp, CopyAsyncOp>(op);
}

bool isCopy(Operation *op) { return isViewAccess(op) || isa<ir::LoadOp, ir::StoreOp>(op); }

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

LogicalResult verifyVariant(Operation *op, Attribute value) {
  auto variant = dyn_cast<VariantAttr>(value);
  if (!variant)
    return op->emitOpError() << kVariantName << " must be a #tilegpu.variant<...>, got " << value;
  if (!isCopy(op) && !isProduct(op))
    return op->emitOpError() << kVariantName << " belongs on a copy or a product";
  VariantKind kind = variant.getKind();
  bool isOfCopies = kind == VariantKind::CpAsync || kind == VariantKind::Vector ||
                    kind == VariantKind::Scalar,
       isOfProducts =
           kind == VariantKind::MmaSync || kind == VariantKind::Fma || kind == VariantKind::Wgmma;
  if (kind == VariantKind::CpAsync && isa<ir::ViewStoreOp, ir::StoreOp>(op))
    return op->emitOpError() << "stores have no variant 'cp_async'";
  if (isCopy(op) ? isOfProducts : isOfCopies)
    return op->emitOpError() << "has no variant '" << stringifyVariantKind(kind)
                             << "', which is of " << (isOfProducts ? "products" : "copies");
  return success();
}

LogicalResult verifyWarpGrid(Operation *op, Attribute value) {
  if (!isa<WarpGridAttr>(value))
    return op->emitOpError() << kWarpGridName << " must be a #tilegpu.warp_grid<...>, got "
                             << value;
  if (!isProduct(op))
    return op->emitOpError() << kWarpGridName << " belongs on a product";
  return success();
}

LogicalResult verifySchedule(Operation *op, Attribute value) {
  if (!isa<ScheduleAttr>(value))
    return op->emitOpError() << kScheduleName << " must be a #tilegpu.schedule<...>, got " << value;
  if (!isa<scf::ForOp>(op))
    return op->emitOpError() << kScheduleName << " belongs on a loop";
  return success();
}

LogicalResult verifySharedBytes(Operation *op, Attribute value) {
  auto bytes = dyn_cast<IntegerAttr>(value);
  if (!isa<FunctionOpInterface>(op) || !bytes || !bytes.getType().isInteger(32) ||
      bytes.getInt() < 0)
    return op->emitOpError() << kSharedBytesName
                             << " must be a number of bytes (i32) on a function";
  return success();
}

VariantAttr annotatedVariant(Operation *op) { return op->getAttrOfType<VariantAttr>(kVariantName); }

} // namespace

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

LogicalResult VariantAttr::verify(function_ref<InFlightDiagnostic()> emitError, VariantKind,
                                  ArrayAttr refused) {
  if (refused && !llvm::all_of(refused, [](Attribute item) { return isa<StringAttr>(item); }))
    return emitError() << "refused must hold sentences, got " << refused;
  return success();
}

LogicalResult WarpGridAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t rows,
                                   int32_t columns, int32_t batch) {
  for (int32_t warps : {rows, columns, batch})
    if (warps < 1 || !llvm::isPowerOf2_32(static_cast<uint32_t>(warps)))
      return emitError() << "warps along a dimension must be a power of two, got " << warps;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t asked,
                                   int32_t stages, StringAttr, bool rotated, StringAttr unrotated) {
  if (asked < 0 || stages < 1)
    return emitError() << "a loop has one stage at least, got " << stages << " where " << asked
                       << " were asked for";
  if (rotated && unrotated)
    return emitError() << "a loop that is rotated has no reason why not";
  return success();
}

LogicalResult TileGpuDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kAccessName)
    return verifyAccess(op, attribute.getValue());
  if (name == kVariantName)
    return verifyVariant(op, attribute.getValue());
  if (name == kWarpGridName)
    return verifyWarpGrid(op, attribute.getValue());
  if (name == kScheduleName)
    return verifySchedule(op, attribute.getValue());
  if (name == kSharedBytesName)
    return verifySharedBytes(op, attribute.getValue());
  return op->emitOpError() << "has the attribute '" << name << "', which `tilegpu` does not know";
}

AccessAttr accessOf(Operation *op) { return op->getAttrOfType<AccessAttr>(kAccessName); }

void setAccess(Operation *op, ArrayRef<int32_t> order, int64_t vector, ArrayRef<Bounds> bounds) {
  op->setAttr(kAccessName,
              AccessAttr::get(op->getContext(), order, static_cast<int32_t>(vector), bounds));
}

VariantKind variantOf(Operation *op) {
  VariantAttr variant = annotatedVariant(op);
  return variant ? variant.getKind() : VariantKind::Undecided;
}

VariantKind demandedVariantOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(ir::kVariantAttr);
  return number ? static_cast<VariantKind>(number.getInt()) : VariantKind::Undecided;
}

SmallVector<StringRef> refusalsOf(Operation *op) {
  SmallVector<StringRef> sentences;
  VariantAttr variant = annotatedVariant(op);
  if (variant && variant.getRefused())
    for (auto sentence : variant.getRefused().getAsRange<StringAttr>())
      sentences.push_back(sentence.getValue());
  return sentences;
}

void setVariant(Operation *op, VariantKind kind) {
  VariantAttr before = annotatedVariant(op);
  op->setAttr(kVariantName,
              VariantAttr::get(op->getContext(), kind, before ? before.getRefused() : ArrayAttr()));
}

void addRefusal(Operation *op, StringRef sentence) {
  SmallVector<StringRef> sentences = refusalsOf(op);
  sentences.push_back(sentence);
  op->setAttr(kVariantName, VariantAttr::get(op->getContext(), variantOf(op),
                                             Builder(op->getContext()).getStrArrayAttr(sentences)));
}

WarpGridAttr warpGridOf(Operation *dot) { return dot->getAttrOfType<WarpGridAttr>(kWarpGridName); }

void setWarpGrid(Operation *dot, int32_t rows, int32_t columns, int32_t batch) {
  dot->setAttr(kWarpGridName, WarpGridAttr::get(dot->getContext(), rows, columns, batch));
}

ScheduleAttr scheduleOf(Operation *loop) {
  return loop->getAttrOfType<ScheduleAttr>(kScheduleName);
}

void setSchedule(Operation *loop, ScheduleAttr schedule) { loop->setAttr(kScheduleName, schedule); }

std::optional<int64_t> sharedBytesOf(Operation *function) {
  auto bytes = function->getAttrOfType<IntegerAttr>(kSharedBytesName);
  return bytes ? std::optional(bytes.getInt()) : std::nullopt;
}

void setSharedBytes(Operation *function, int64_t bytes) {
  function->setAttr(kSharedBytesName,
                    Builder(function->getContext()).getI32IntegerAttr(static_cast<int32_t>(bytes)));
}

} // namespace tile::gpu
