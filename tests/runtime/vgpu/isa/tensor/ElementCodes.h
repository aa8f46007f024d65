// The codes of small integers in the element types of matrix instructions: exact in all of them, in any order of summation.
#pragma once

#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <string>

namespace tile::vgpu {

/// `type` as PTX spells it, from "b1" to "f64"; integers are cut to the width of the type.
inline uint64_t elementCode(const std::string &type, int value) {
  if (type == "f16")
    return floatToHalf(static_cast<float>(value));
  if (type == "bf16")
    return floatToBfloat(static_cast<float>(value));
  if (type == "tf32" || type == "f32")
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == "f64")
    return std::bit_cast<uint64_t>(static_cast<double>(value));
  if (type == "e4m3")
    return encodeFloat(value, kE4m3Format, Rounding::NearestEven);
  if (type == "e5m2")
    return encodeFloat(value, kE5m2Format, Rounding::NearestEven);
  int bits = type == "b1" ? 1 : type == "s4" || type == "u4" ? 4 : type == "s32" ? 32 : 8;
  return static_cast<uint32_t>(value) & (bits == 32 ? ~0u : (1u << bits) - 1);
}

} // namespace tile::vgpu
