// Which parts of registers video instructions work on: `%r.b0` and `%r.h1` of one, `%r.h32` and `%r.b7654` of several.
#pragma once

#include "runtime/vgpu/decode/Decode.h"

#include <array>
#include <bit>

namespace tile::vgpu {

enum class Part : uint8_t { Whole, B0, B1, B2, B3, H0, H1 };

constexpr unsigned bitsOf(Part part) {
  return part == Part::Whole ? 32 : part >= Part::H0 ? 16 : 8;
}
constexpr unsigned placeOf(Part part) {
  return part == Part::Whole ? 0
         : part >= Part::H0  ? 16 * (static_cast<unsigned>(part) - static_cast<unsigned>(Part::H0))
                             : 8 * (static_cast<unsigned>(part) - static_cast<unsigned>(Part::B0));
}

/// Number `part` of those of `bits` bits.
inline int64_t extend(uint32_t word, unsigned part, unsigned bits, bool isSigned) {
  uint64_t field = uint64_t{word} >> (part * bits) << (64 - bits);
  return isSigned ? static_cast<int64_t>(field) >> (64 - bits)
                  : static_cast<int64_t>(field >> (64 - bits));
}
inline int64_t selected(uint32_t word, Part part, bool isSigned) {
  return extend(word, placeOf(part) / bitsOf(part), bitsOf(part), isSigned);
}
/// `c` with its part replaced.
inline uint32_t merged(uint32_t value, Part part, uint32_t c) {
  uint32_t place = ((1u << bitsOf(part)) - 1) << placeOf(part);
  return (c & ~place) | (value << placeOf(part) & place);
}

struct ScalarParts {
  Part d = Part::Whole, a = Part::Whole, b = Part::Whole;
};

/// The selections of halves and bytes: each source's parts, 3 bits each, are numbered through a and then b. They are bytes, so
/// that an operation keeps them without gaps.
struct SimdParts {
  uint8_t mask = 0; // of the parts of the result
  std::array<uint8_t, 2> selectionsOfA = {}, selectionsOfB = {};

  uint16_t a() const { return std::bit_cast<uint16_t>(selectionsOfA); }
  uint16_t b() const { return std::bit_cast<uint16_t>(selectionsOfB); }
  /// Part `part` of `count` of the source with these selections.
  static int64_t of(uint16_t selections, unsigned part, unsigned count, uint32_t a, uint32_t b,
                    bool isSigned) {
    unsigned number = selections >> (3 * part) & 7;
    return extend(number < count ? a : b, number % count, 32 / count, isSigned);
  }
};

/// Read from operands 0 to 2.
ScalarParts takeScalarParts(Decoder &decoder, const Instruction &instruction);
SimdParts takeSimdParts(Decoder &decoder, const Instruction &instruction, unsigned count);

/// vmad.
void decodeVideoMad(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);

} // namespace tile::vgpu
