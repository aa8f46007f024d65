// Element types: the names a kernel uses (f16, f32, ...) and the host storage types behind them.
//
// A `DType` names the element type of a tile or tensor. The constants below are used both as
// template arguments (`In<f16, 2>`) and as values (`zeros(f32, {128, 64})`). Self-contained:
// devices include it without the compiler.
#pragma once

#include <tile/Float8.h>
#include <tile/detail/FloatBits.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tile {

/// The element type of a tile, scalar or tensor.
enum class DType : uint8_t {
  I1,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  E4M3,
  E5M2,
  Any
};

inline constexpr DType i1 = DType::I1;
inline constexpr DType i8 = DType::I8;
inline constexpr DType i16 = DType::I16;
inline constexpr DType i32 = DType::I32;
inline constexpr DType i64 = DType::I64;
inline constexpr DType u8 = DType::U8;
inline constexpr DType u16 = DType::U16;
inline constexpr DType u32 = DType::U32;
inline constexpr DType u64 = DType::U64;
inline constexpr DType f16 = DType::F16;
inline constexpr DType bf16 = DType::BF16;
inline constexpr DType f32 = DType::F32;
inline constexpr DType f64 = DType::F64;
inline constexpr DType e4m3 = DType::E4M3;
inline constexpr DType e5m2 = DType::E5M2;
/// In a view's type: any element type is accepted; ask `dtype()` while tracing.
inline constexpr DType any = DType::Any;

/// Bytes one element occupies in memory (i1 occupies one byte). `any` has size 0.
constexpr size_t sizeOf(DType type) {
  switch (type) {
  case DType::I1:
  case DType::I8:
  case DType::U8:
  case DType::E4M3:
  case DType::E5M2:
    return 1;
  case DType::I16:
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return 2;
  case DType::I32:
  case DType::U32:
  case DType::F32:
    return 4;
  case DType::I64:
  case DType::U64:
  case DType::F64:
    return 8;
  case DType::Any:
    return 0;
  }
  return 0;
}

/// The name a kernel's author writes: "f16", "i32", ...
constexpr const char *nameOf(DType type) {
  constexpr const char *names[] = {"i1",  "i8",  "i16",  "i32", "i64", "u8",   "u16",  "u32",
                                   "u64", "f16", "bf16", "f32", "f64", "e4m3", "e5m2", "any"};
  return names[static_cast<int>(type)];
}

constexpr bool isFloat(DType type) {
  return type == f16 || type == bf16 || type == f32 || type == f64 || type == e4m3 || type == e5m2;
}
/// The 8-bit floats: stored and converted, but computed with in f32.
constexpr bool isFloat8(DType type) { return type == e4m3 || type == e5m2; }
constexpr bool isUnsigned(DType type) {
  return type == i1 || type == u8 || type == u16 || type == u32 || type == u64;
}
constexpr bool isInteger(DType type) { return !isFloat(type) && type != any; }

/// IEEE binary16 in memory. Conversion from float rounds to nearest even and overflows to infinity.
struct half {
  uint16_t bits = 0;
  constexpr half() = default;
  constexpr half(float value) : bits(detail::halfBits(value)) {}
  constexpr operator float() const { return detail::floatOfHalf(bits); }
};

/// bfloat16 in memory: the upper half of a float. Conversion from float rounds to nearest even.
struct bfloat16 {
  uint16_t bits = 0;
  constexpr bfloat16() = default;
  constexpr bfloat16(float value) : bits(detail::bfloatBits(value)) {}
  constexpr operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

/// The DType of a host type: `dtypeOf<float>` is f32.
template <class T> inline constexpr DType dtypeOf = DType::Any;
template <> inline constexpr DType dtypeOf<bool> = i1;
template <> inline constexpr DType dtypeOf<int8_t> = i8;
template <> inline constexpr DType dtypeOf<int16_t> = i16;
template <> inline constexpr DType dtypeOf<int32_t> = i32;
template <> inline constexpr DType dtypeOf<int64_t> = i64;
template <> inline constexpr DType dtypeOf<uint8_t> = u8;
template <> inline constexpr DType dtypeOf<uint16_t> = u16;
template <> inline constexpr DType dtypeOf<uint32_t> = u32;
template <> inline constexpr DType dtypeOf<uint64_t> = u64;
template <> inline constexpr DType dtypeOf<half> = f16;
template <> inline constexpr DType dtypeOf<bfloat16> = bf16;
template <> inline constexpr DType dtypeOf<float8_e4m3> = e4m3;
template <> inline constexpr DType dtypeOf<float8_e5m2> = e5m2;
template <> inline constexpr DType dtypeOf<float> = f32;
template <> inline constexpr DType dtypeOf<double> = f64;

} // namespace tile
