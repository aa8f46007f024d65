// Registration of the dialect `tile`, its types, and the checks of attributes on kernels.
#include "ir/TileDialect.h"

#include "ir/Callable.h"
#include "ir/LayoutAttr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace tile::ir;

#include "ir/TileDialect.cpp.inc"
#include "ir/TileEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "ir/TileOps.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/TileOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

static bool isNumber(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type, Float32Type, Float64Type>(
             type) ||
         type.isSignlessInteger(1) || type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
         type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError, Type pointee) {
  if (!isNumber(pointee))
    return emitError() << "a pointer's element type must be a supported number, got " << pointee;
  return success();
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rank,
                               Type elementType) {
  if (rank < 1 || rank > 8)
    return emitError() << "a view's rank must be 1 to 8, got " << rank;
  if (!isNumber(elementType))
    return emitError() << "a view's element type must be a supported number, got " << elementType;
  return success();
}

// Printed as a shape would be: `!tile.view<2xf16>`.
Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> dims;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(dims, /*allowDynamic=*/false, /*withTrailingX=*/true) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  if (dims.size() != 1) {
    parser.emitError(loc, "expected a rank and an element type, such as <2xf16>");
    return {};
  }
  return parser.getChecked<ViewType>(loc, parser.getContext(), dims[0], elementType);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << '<' << getRank() << 'x' << getElementType() << '>';
}

bool tile::ir::isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

Type tile::ir::elementTypeOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getElementType();
  return type;
}

ArrayRef<int64_t> tile::ir::shapeOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getShape();
  return {};
}

LogicalResult tile::ir::verifyTileShape(ArrayRef<int64_t> shape,
                                        function_ref<InFlightDiagnostic()> emitError) {
  if (shape.size() > 8)
    return emitError() << "a tile has at most 8 dimensions, got " << shape.size();
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 1)
      return emitError() << "a tile's extents must be at least 1, got " << extent;
    if (extent > kMaxTileElements || (elements *= extent) > kMaxTileElements)
      return emitError() << "a tile has at most " << kMaxTileElements << " elements";
  }
  return success();
}

// Attributes of a kernel: `tile.warps` a power of two up to 32, `tile.grid` a map over symbols only.
static LogicalResult verifyWarps(Operation *op, Attribute value) {
  auto warps = dyn_cast<IntegerAttr>(value);
  if (!warps || !warps.getType().isInteger(32))
    return op->emitOpError("tile.warps must be an i32");
  int64_t count = warps.getInt();
  if (count < 1 || count > 32 || (count & (count - 1)))
    return op->emitOpError("tile.warps must be a power of two from 1 to 32, got ") << count;
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

constexpr int64_t kDefaultWarps = 4; // of kernels without tile.warps

// Every layout of a kernel is one of its warps, no more and no less: others would be left out or do their work twice.
static LogicalResult verifyLayouts(func::FuncOp kernel) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttr);
  int64_t count = warps ? warps.getInt() : kDefaultWarps;
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

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kKernelAttr)
    return verifyKernel(op);
  if (name == kCallableAttr)
    return verifyCallable(op);
  if (name == kWarpsAttr)
    return verifyWarps(op, attribute.getValue());
  if (name == kMaxRegistersAttr)
    return verifyRange(op, name, attribute.getValue(), 16, 255);
  if (name == kOccupancyAttr)
    return verifyRange(op, name, attribute.getValue(), 1, 32);
  if (name == kGridAttr)
    return verifyGrid(op, attribute.getValue());
  if (name == kGridSymbolsAttr)
    return verifyGridSymbols(op, attribute.getValue());
  return success();
}

// Facts on a kernel's argument: what a launch promised. A fact of the wrong form would be ignored silently.
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

LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                    NamedAttribute attribute) {
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || index >= function.getNumArguments())
    return success();
  auto view = dyn_cast<ViewType>(function.getArgumentTypes()[index]);
  StringRef name = attribute.getName();
  if (name == kAlignmentAttr) {
    auto alignment = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!alignment || alignment.getInt() < 1)
      return op->emitOpError("tile.alignment must be a positive i32");
  }
  if (name == kMayAliasAttr)
    return verifyAliases(op, function.getArgumentTypes()[index], attribute.getValue());
  if (name == kUnitStrideAttr)
    return verifyUnitStrides(op, view, attribute.getValue());
  if (name == kStrideBytesDivisibleAttr || name == kExtentDivisibleAttr || name == kExtentsAttr) {
    auto facts = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (!facts)
      return op->emitOpError() << name << " must be array<i64: ...>";
    return verifyPerDim(op, view, name, facts.asArrayRef());
  }
  return success();
}
