#include "runtime/host/DLPackTypes.h"

#include <iterator>

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

/// What the codes of DLPack 1.1 stand for: names that bits follow, then those of one width.
constexpr const char *kFamilies[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
constexpr const char *kNames[] = {"float8_e3m4",     "float8_e4m3",     "float8_e4m3b11fnuz",
                                  "float8_e4m3fn",   "float8_e4m3fnuz", "float8_e5m2",
                                  "float8_e5m2fnuz", "float8_e8m0fnu",  "float6_e2m3fn",
                                  "float6_e3m2fn",   "float4_e2m1fn"};

static std::string nameOfOne(ElementType type) {
  auto code = static_cast<size_t>(type.code);
  std::string bits = std::to_string(type.bits);
  if (code < std::size(kFamilies))
    return kFamilies[code] + bits;
  if (code - std::size(kFamilies) >= std::size(kNames))
    return "type code " + std::to_string(code) + " and " + bits + " bits";
  std::string name = kNames[code - std::size(kFamilies)];
  bool isUsual = name[5] - '0' == type.bits; // "float8..."
  return isUsual ? name : name + " in " + bits + " bits";
}

std::string nameOf(ElementType type) {
  return (type.lanes == 1 ? "" : "vectors of " + std::to_string(type.lanes) + " ") +
         nameOfOne(type);
}

} // namespace tile::dlpack
