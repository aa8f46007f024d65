#include "runtime/host/DLPackTypes.h"

namespace tile::dlpack {

static TypeCode codeOf(DType dtype) {
  switch (dtype) {
  case DType::I1:
    return TypeCode::Bool;
  case DType::BF16:
    return TypeCode::Bfloat;
  case DType::E4M3:
    return TypeCode::Float8E4M3Fn;
  case DType::E5M2:
    return TypeCode::Float8E5M2;
  default:
    return isFloat(dtype) ? TypeCode::Float : isUnsigned(dtype) ? TypeCode::Uint : TypeCode::Int;
  }
}

ElementType elementTypeOf(DType dtype) {
  return {codeOf(dtype), static_cast<uint8_t>(8 * sizeOf(dtype)), 1};
}

std::optional<DType> dtypeOf(ElementType type) {
  for (DType dtype : {i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, e4m3, e5m2}) {
    ElementType own = elementTypeOf(dtype);
    if (own.code == type.code && own.bits == type.bits && own.lanes == type.lanes)
      return dtype;
  }
  return std::nullopt;
}

} // namespace tile::dlpack
