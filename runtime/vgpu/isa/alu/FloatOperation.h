// The float operations that opcodes name, whatever their types and modifiers.
#pragma once

#include <cstdint>

namespace tile::vgpu {

enum class FloatOperation : uint8_t {
  Add,
  Sub,
  Mul,
  Fma,
  Div,
  Min,
  Max,
  Abs,
  Neg,
  Sqrt,
  Rcp,
  Rsqrt,
  Ex2,
  Lg2,
  Sin,
  Cos,
  Tanh,
};

} // namespace tile::vgpu
