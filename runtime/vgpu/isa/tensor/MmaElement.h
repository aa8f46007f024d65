// The elements that mma and wmma multiply and add: how they lie in registers and what is computed with them.
#pragma once

#include "runtime/vgpu/isa/alu/FloatRules.h"
#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "runtime/vgpu/machine/Lanes.h"

#include <algorithm>

namespace tile::vgpu {

enum class Element : uint8_t { F16, BF16, TF32, E4M3, E5M2, U8, S8, U4, S4, F64 };

constexpr unsigned elementsPerRegister(Element element) {
  switch (element) {
  case Element::F16:
  case Element::BF16:
    return 2;
  case Element::TF32:
  case Element::F64:
    return 1;
  case Element::U4:
  case Element::S4:
    return 8;
  default:
    return 4;
  }
}

// The type that the operation computes in, and the conversion of a register's element j to it.
template <Element E> struct ElementTraits {
  using Value = float;
  static float get(uint32_t bits, unsigned j) {
    if constexpr (E == Element::F16)
      return halfToFloat(static_cast<uint16_t>(bits >> (16 * j)));
    else if constexpr (E == Element::BF16)
      return bfloatToFloat(static_cast<uint16_t>(bits >> (16 * j)));
    else if constexpr (E == Element::TF32)
      return std::bit_cast<float>(bits & 0xffffe000u);
    else
      return static_cast<float>(
          decodeFloat(bits >> (8 * j) & 255, E == Element::E4M3 ? kE4m3Format : kE5m2Format));
  }
};
template <> struct ElementTraits<Element::U8> {
  using Value = int32_t;
  static int32_t get(uint32_t bits, unsigned j) { return static_cast<uint8_t>(bits >> (8 * j)); }
};
template <> struct ElementTraits<Element::S8> {
  using Value = int32_t;
  static int32_t get(uint32_t bits, unsigned j) { return static_cast<int8_t>(bits >> (8 * j)); }
};
template <> struct ElementTraits<Element::U4> {
  using Value = int32_t;
  static int32_t get(uint32_t bits, unsigned j) {
    return static_cast<int32_t>(bits >> (4 * j) & 15);
  }
};
template <> struct ElementTraits<Element::S4> {
  using Value = int32_t;
  static int32_t get(uint32_t bits, unsigned j) {
    return static_cast<int32_t>(bits << (28 - 4 * j)) >> 28;
  }
};
template <> struct ElementTraits<Element::F64> {
  using Value = double;
  static double get(uint64_t bits, unsigned) { return std::bit_cast<double>(bits); }
};

template <Element E> using Register = std::conditional_t<E == Element::F64, uint64_t, uint32_t>;

inline float multiplyAdd(float a, float b, float c) { return std::fma(a, b, c); }
inline double multiplyAdd(double a, double b, double c) { return passNan(std::fma(a, b, c), b, c); }
inline int64_t multiplyAdd(int32_t a, int32_t b, int64_t c) { return c + int64_t{a} * b; }

// The layout of C and D in registers.
enum class Accumulator : uint8_t { F32, F16, S32, S32Saturated, F64 };

template <Accumulator A> struct AccumulatorTraits {
  using Sum = std::conditional_t<
      A == Accumulator::F64, double,
      std::conditional_t<A == Accumulator::S32 || A == Accumulator::S32Saturated, int64_t, float>>;
  static constexpr unsigned perRegister = A == Accumulator::F16 ? 2 : 1;
  using Register = std::conditional_t<A == Accumulator::F64, uint64_t, uint32_t>;

  static Sum get(Register bits, unsigned j) {
    if constexpr (A == Accumulator::F16)
      return halfToFloat(static_cast<uint16_t>(bits >> (16 * j)));
    else if constexpr (A == Accumulator::S32 || A == Accumulator::S32Saturated)
      return static_cast<int32_t>(bits);
    else
      return std::bit_cast<Sum>(bits);
  }
  static Register put(Sum value) {
    if constexpr (A == Accumulator::F16)
      return floatToHalf(value);
    else if constexpr (A == Accumulator::S32)
      return static_cast<uint32_t>(value);
    else if constexpr (A == Accumulator::S32Saturated)
      return static_cast<uint32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
    else if constexpr (A == Accumulator::F32)
      return value != value ? 0x7fffffffu : std::bit_cast<uint32_t>(value);
    else
      return std::bit_cast<uint64_t>(value);
  }
};

} // namespace tile::vgpu
