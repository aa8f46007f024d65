// Picks the instance of a handler template for a PTX type.
#pragma once

#include "runtime/vgpu/decode/BitShadow.h"
#include "runtime/vgpu/decode/Decode.h"

namespace tile::vgpu {

/// Wrap-around arithmetic in the unsigned type: overflow of signed types is defined in PTX. Narrow types compute in 32 bits.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

inline bool isPairOfShorts(ScalarType type) {
  return type == ScalarType::U16x2 || type == ScalarType::S16x2;
}

/// Integers of 16 to 64 bits, and bit types of these widths.
inline bool isWord(ScalarType type) {
  return bytesOf(type) >= 2 && bytesOf(type) <= 8 && !isFloat(type) && !isPairOfShorts(type);
}

/// Calls `make.template operator()<T>()` with the C++ type of an integer or bit type; null for others.
template <class Make>
auto forInteger(ScalarType type, Make make) -> decltype(make.template operator()<uint8_t>()) {
  switch (type) {
  case ScalarType::U8:
  case ScalarType::B8:
    return make.template operator()<uint8_t>();
  case ScalarType::U16:
  case ScalarType::B16:
    return make.template operator()<uint16_t>();
  case ScalarType::U32:
  case ScalarType::B32:
    return make.template operator()<uint32_t>();
  case ScalarType::U64:
  case ScalarType::B64:
    return make.template operator()<uint64_t>();
  case ScalarType::S8:
    return make.template operator()<int8_t>();
  case ScalarType::S16:
    return make.template operator()<int16_t>();
  case ScalarType::S32:
    return make.template operator()<int32_t>();
  case ScalarType::S64:
    return make.template operator()<int64_t>();
  default:
    return nullptr;
  }
}

/// The handler of the binary function `F<T>` for an integer type.
template <template <class> class F> Handler binaryInteger(ScalarType type) {
  return forInteger(type, []<class T>() -> Handler { return laneOp<F<T>, T, T, T>; });
}
template <template <class> class F> Handler unaryInteger(ScalarType type) {
  return forInteger(type, []<class T>() -> Handler { return laneOp<F<T>, T, T>; });
}

/// Emits `handler` with targets[0] = operand 0 and the other operands as sources, all of `type`.
void emitSimple(Decoder &decoder, const Instruction &instruction, Handlers handlers,
                ScalarType type, size_t operands);

} // namespace tile::vgpu
