#include "frontend/trace/DialectForms.h"

#include "ir/tile/TileDialect.h"

#include <mlir/IR/BuiltinTypes.h>

using namespace mlir;
using tile::Loc;

namespace tile::frontend {

Type DialectForms::elementType(DType dtype) const {
  switch (dtype) {
  case DType::F16:
    return builder_.getF16Type();
  case DType::BF16:
    return builder_.getBF16Type();
  case DType::F32:
    return builder_.getF32Type();
  case DType::F64:
    return builder_.getF64Type();
  case DType::E4M3:
    return builder_.getType<Float8E4M3FNType>();
  case DType::E5M2:
    return builder_.getType<Float8E5M2Type>();
  case DType::I1:
    return builder_.getI1Type();
  default:
    return builder_.getIntegerType(static_cast<unsigned>(sizeOf(dtype)) * 8);
  }
}

Type DialectForms::typeOf(const TileType &type) const {
  Type element = elementType(type.dtype);
  if (type.category == TileType::View)
    return ir::ViewType::get(builder_.getContext(), type.viewRank, element);
  if (type.category == TileType::Pointer)
    element = ir::PtrType::get(builder_.getContext(), element);
  if (type.isScalar())
    return element;
  return RankedTensorType::get(ArrayRef(type.shape.begin(), type.shape.end()), element);
}

Location DialectForms::locationOf(const Loc &loc) const {
  if (!*loc.file)
    return builder_.getUnknownLoc();
  return FileLineColLoc::get(builder_.getContext(), loc.file, loc.line, 0);
}

mlir::Attribute DialectForms::attributeOf(const frontend::Attribute &attribute) const {
  switch (attribute.kind) {
  case frontend::Attribute::Unit:
    return builder_.getUnitAttr();
  case frontend::Attribute::I32:
    return builder_.getI32IntegerAttr(static_cast<int32_t>(attribute.numbers[0]));
  case frontend::Attribute::I64:
    return builder_.getI64IntegerAttr(attribute.numbers[0]);
  case frontend::Attribute::String:
    return builder_.getStringAttr(attribute.text);
  case frontend::Attribute::Symbol:
    return FlatSymbolRefAttr::get(builder_.getContext(), attribute.text);
  case frontend::Attribute::I64Array:
    return builder_.getDenseI64ArrayAttr(attribute.numbers);
  case frontend::Attribute::BoolArray:
    return builder_.getDenseBoolArrayAttr(
        SmallVector<bool>(attribute.numbers.begin(), attribute.numbers.end()));
  case frontend::Attribute::I32Array:
    break;
  }
  return builder_.getDenseI32ArrayAttr(
      SmallVector<int32_t>(attribute.numbers.begin(), attribute.numbers.end()));
}

} // namespace tile::frontend
