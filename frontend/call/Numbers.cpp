// The numbers that scalar arguments are.
#include "frontend/call/ArgFacts.h"

#include <bit>

namespace tile::frontend {

template <class T> static float ofBits(uint64_t bits) {
  T number;
  number.bits = static_cast<decltype(number.bits)>(bits);
  return number;
}

int64_t integerOf(DType dtype, uint64_t bits) {
  int unused = 64 - static_cast<int>(sizeOf(dtype)) * 8;
  bits <<= unused;
  return isUnsigned(dtype) ? static_cast<int64_t>(bits >> unused)
                           : static_cast<int64_t>(bits) >> unused;
}

double floatOf(DType dtype, uint64_t bits) {
  switch (dtype) {
  case f64:
    return std::bit_cast<double>(bits);
  case f32:
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  case f16:
    return ofBits<half>(bits);
  case bf16:
    return ofBits<bfloat16>(bits);
  case e4m3:
    return ofBits<float8_e4m3>(bits);
  default:
    return ofBits<float8_e5m2>(bits);
  }
}

} // namespace tile::frontend
