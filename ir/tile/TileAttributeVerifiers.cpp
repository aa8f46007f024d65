// Verifies the attributes of `tile` where they are attached: to kernels, to their arguments, to
// loops.
#include "ir/tile/TileDialect.h"

#include "ir/Callable.h"
#include "ir/DependentLaunch.h"
#include "ir/LayoutAttr.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include <limits>

using namespace mlir;
using namespace tile::ir;

static bool isOfLaunch(ParamKind kind) {
  return kind == ParamKind::Workspace || kind == ParamKind::Counters;
}

LogicalResult ParamAttr::verify(function_ref<InFlightDiagnostic()> emitError, ParamKind kind,
                                int32_t arg, int32_t dim) {
  bool isOfView = kind == ParamKind::Extent || kind == ParamKind::Stride;
  if ((arg < 0) != isOfLaunch(kind))
    return emitError() << stringifyParamKind(kind)
                       << (isOfLaunch(kind) ? " is of no argument, got "
                                            : " must name an argument of the kernel, got ")
                       << arg;
  if (isOfView != (dim >= 0))
    return emitError() << stringifyParamKind(kind)
                       << (isOfView ? " needs a dimension" : " has no dimension");
  return success();
}

static LogicalResult verifyWarps(Operation *op, Attribute value) {
  auto warps = dyn_cast<IntegerAttr>(value);
  if (!warps || !warps.getType().isInteger(32))
    return op->emitOpError("tile.warps must be an i32");
  int64_t count = warps.getInt();
  if (count < 1 || count > kMaxWarps || (count & (count - 1)))
    return op->emitOpError("tile.warps must be a power of two from 1 to ")
           << kMaxWarps << ", got " << count;
  return success();
}

static LogicalResult verifyGrid(Operation *op, Attribute value) {
  auto map = dyn_cast<AffineMapAttr>(value);
  if (!map || map.getValue().getNumDims() != 0 || map.getValue().getNumResults() < 1 ||
      map.getValue().getNumResults() > 3)
    return op->emitOpError("tile.grid must be an affine map over symbols with 1 to 3 results");
  auto symbols = op->getAttrOfType<ArrayAttr>(kGridSymbolsAttr);
  if (!symbols || symbols.size() != map.getValue().getNumSymbols())
    return op->emitOpError(
        "tile.grid_symbols must name one [argument, dimension] pair a symbol of tile.grid");
  return success();
}

static LogicalResult verifyGridSymbols(Operation *op, Attribute value) {
  auto function = dyn_cast<func::FuncOp>(op);
  auto symbols = dyn_cast<ArrayAttr>(value);
  if (!function || !symbols)
    return op->emitOpError("tile.grid_symbols must be an array on a function");
  for (Attribute symbol : symbols) {
    auto pair = dyn_cast<DenseI32ArrayAttr>(symbol);
    if (!pair || pair.size() != 2)
      return op->emitOpError("tile.grid_symbols must hold pairs array<i32: argument, dimension>");
    int32_t argument = pair[0], dim = pair[1];
    if (argument < 0 || argument >= static_cast<int32_t>(function.getNumArguments()))
      return op->emitOpError("tile.grid_symbols names argument ")
             << argument << ", which does not exist";
    auto view = dyn_cast<ViewType>(function.getArgumentTypes()[argument]);
    bool isScalar = dim == -1 && function.getArgumentTypes()[argument].isInteger(32);
    if (!isScalar && (!view || dim < 0 || dim >= view.getRank()))
      return op->emitOpError("tile.grid_symbols names dimension ")
             << dim << " of argument " << argument << ", which has none";
  }
  return success();
}

// Every layout of a kernel is one of its warps, no more and no less: others would be left out or do
// their work twice.
static LogicalResult verifyLayouts(func::FuncOp kernel) {
  int64_t count = warpsOf(kernel);
  auto verify = [&](Operation *op, Type type) -> LogicalResult {
    tile::gpu::LayoutAttr layout = tile::gpu::encodingOf(type);
    int64_t ofLayout = layout ? int64_t{1} << layout.getWarps().size() / layout.getRank() : count;
    if (ofLayout == count)
      return success();
    return op->emitOpError("has a layout for ")
           << ofLayout << " warps in a kernel of " << count << " (tile.warps)";
  };
  WalkResult walked = kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(verify(op, type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

static LogicalResult verifyKernel(Operation *op) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return op->emitOpError("tile.kernel belongs on a func.func");
  if (function.isExternal())
    return op->emitOpError("a kernel needs a body");
  if (function.getNumResults() != 0)
    return op->emitOpError("a kernel returns nothing");
  for (Type type : function.getArgumentTypes())
    if (!isa<ViewType, PtrType>(type) && !isNumber(type))
      return op->emitOpError("a kernel's arguments are views, pointers and scalars, got ") << type;
  return verifyLayouts(function);
}

static LogicalResult verifyRange(Operation *op, StringRef name, Attribute value, int64_t least,
                                 int64_t most) {
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number || !number.getType().isInteger(32))
    return op->emitOpError() << name << " must be an i32";
  if (number.getInt() < least || number.getInt() > most)
    return op->emitOpError() << name << " must be " << least << " to " << most << ", got "
                             << number.getInt();
  return success();
}

static LogicalResult verifyLoop(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (!isa<LoopLikeOpInterface>(op))
    return op->emitOpError() << name << " belongs on a loop";
  if (name == kStagesAttr || name == kUnrollAttr)
    return verifyRange(op, name, attribute.getValue(), 1, std::numeric_limits<int32_t>::max());
  if (!isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError() << name << " takes no value";
  return success();
}

static LogicalResult verifyVariant(Operation *op, Attribute value) {
  if (!isa<LoadOp, StoreOp, ViewLoadOp, ViewStoreOp, DotOp, tile::gpu::RingCopyOp,
           tile::gpu::CopyAsyncOp, tile::gpu::TensorCopyOp, tile::gpu::TensorStoreOp,
           tile::gpu::SmemDotOp, tile::gpu::DotAsyncOp>(op))
    return op->emitOpError() << kVariantAttr << " belongs on a load, a store or a product";
  // A number of another kind of operation is refused where variants are chosen, at the user's line.
  return verifyRange(op, kVariantAttr, value, 1, tile::gpu::getMaxEnumValForStoreVariant());
}

static bool isAnyOf(StringRef name, std::initializer_list<StringRef> names) {
  return llvm::is_contained(names, name);
}

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kKernelAttr)
    return verifyKernel(op);
  if (name == kCallableAttr)
    return verifyCallable(op);
  if (name == kWarpsAttr)
    return verifyWarps(op, attribute.getValue());
  if (name == kMaxRegistersAttr)
    return verifyRange(op, name, attribute.getValue(), kLeastRegistersPerThread,
                       kMaxRegistersPerThread);
  if (name == kOccupancyAttr)
    return verifyRange(op, name, attribute.getValue(), 1, kMaxOccupancy);
  if (name == kTeamsAttr)
    return verifyRange(op, name, attribute.getValue(), 1, kMostTeams);
  if (name == kClusterAttr)
    return verifyRange(op, name, attribute.getValue(), 1, kMostBlocksOfCluster);
  if (name == kGridAttr)
    return verifyGrid(op, attribute.getValue());
  if (name == kGridSymbolsAttr)
    return verifyGridSymbols(op, attribute.getValue());
  if (isAnyOf(name, {kStagesAttr, kUnrollAttr, kNoLicmAttr, kFlattenAttr, kOverlapDotsAttr,
                     kSpecializeAttr, kPingPongAttr}))
    return verifyLoop(op, attribute);
  if (name == kVariantAttr)
    return verifyVariant(op, attribute.getValue());
  if (isAnyOf(name, {kPersistentAttr, kNoFusionAttr, kFlushDenormalsAttr, kPreciseAttr,
                     kThreadsAttr, kDependentAttr}))
    return success();
  return op->emitOpError() << "has the attribute '" << name << "', which `tile` does not know";
}

// Facts on a kernel's argument: what a launch promised. A fact of the wrong form would be ignored
// silently.
static LogicalResult verifyPerDim(Operation *op, ViewType view, StringRef name,
                                  ArrayRef<int64_t> facts) {
  if (!view || static_cast<int64_t>(facts.size()) != view.getRank())
    return op->emitOpError() << name << " must have one number a dimension of a view";
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  for (int64_t fact : facts) {
    if (name == kExtentsAttr && (fact < -1 || fact > kLargest))
      return op->emitOpError() << name << " must hold extents, or -1 for unknown ones, got "
                               << fact;
    if (name != kExtentsAttr && fact < 1)
      return op->emitOpError() << name << " must hold positive numbers, got " << fact;
  }
  return success();
}

static LogicalResult verifyUnitStrides(Operation *op, ViewType view, Attribute value) {
  auto dims = dyn_cast<DenseI32ArrayAttr>(value);
  if (!view || !dims)
    return op->emitOpError("tile.unit_stride must be array<i32: ...> on a view");
  for (int32_t dim : dims.asArrayRef())
    if (dim < 0 || dim >= view.getRank())
      return op->emitOpError("tile.unit_stride names dimension ")
             << dim << " of a view of rank " << view.getRank();
  return success();
}

static LogicalResult verifyAliases(Operation *op, Type type, Attribute value) {
  auto others = dyn_cast<DenseI32ArrayAttr>(value);
  if (!others || !isa<ViewType, PtrType>(type))
    return op->emitOpError("tile.may_alias must be array<i32: ...> on a view or pointer");
  for (int32_t other : others.asArrayRef())
    if (other < 0)
      return op->emitOpError("tile.may_alias names argument ") << other;
  return success();
}

static LogicalResult verifyParam(Operation *op, Type type, Attribute value) {
  auto param = dyn_cast<ParamAttr>(value);
  if (!param)
    return op->emitOpError("tile.param must be a #tile.param<...>, got ") << value;
  ParamKind kind = param.getKind();
  bool isPointer = kind == ParamKind::Pointer || isOfLaunch(kind);
  bool isOfKind = isPointer                   ? isa<PtrType>(type)
                  : kind == ParamKind::Scalar ? isNumber(type)
                                              : type.isInteger(32) || type.isInteger(64);
  if (!isOfKind)
    return op->emitOpError("tile.param says ")
           << stringifyParamKind(kind) << " of an argument of type " << type;
  return success();
}

static LogicalResult verifyDivisor(Operation *op, StringRef name, Attribute value) {
  auto divisor = dyn_cast<IntegerAttr>(value);
  if (!divisor || divisor.getInt() < 1)
    return op->emitOpError() << name << " must be a positive i32";
  return success();
}

static LogicalResult verifyDirection(Operation *op, Attribute value) {
  auto direction = dyn_cast<StringAttr>(value);
  if (!direction || !isAnyOf(direction.getValue(), {"in", "out", "inout"}))
    return op->emitOpError("tile.access must be \"in\", \"out\" or \"inout\", got ") << value;
  return success();
}

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || index >= function.getNumArguments())
    return success();
  Type type = function.getArgumentTypes()[index];
  auto view = dyn_cast<ViewType>(type);
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == kParamAttr)
    return verifyParam(op, type, value);
  if (name == kAlignmentAttr || name == kDivisibilityAttr)
    return verifyDivisor(op, name, value);
  if (name == kAccessAttr)
    return verifyDirection(op, value);
  if (name == kMayAliasAttr)
    return verifyAliases(op, type, value);
  if (name == kUnitStrideAttr)
    return verifyUnitStrides(op, view, value);
  if (isAnyOf(name, {kStrideBytesDivisibleAttr, kExtentDivisibleAttr, kExtentsAttr})) {
    auto facts = dyn_cast<DenseI64ArrayAttr>(value);
    if (!facts)
      return op->emitOpError() << name << " must be array<i64: ...>";
    return verifyPerDim(op, view, name, facts.asArrayRef());
  }
  if (name == kNameAttr || name == kWideAttr)
    return success();
  return op->emitOpError() << "has the attribute '" << name << "' on argument " << index
                           << ", which `tile` does not know";
}
