// Registration of the dialect `tile` and its types.
#include "ir/tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;

#include "ir/TileDialect.cpp.inc"
#include "ir/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "ir/TileOps.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/TileAttrs.cpp.inc"
      >();
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

bool tile::ir::isNumber(Type type) {
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
