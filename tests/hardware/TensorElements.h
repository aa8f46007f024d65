// Inputs of tensor cores: elements of all formats, of exponents from narrow to any, and metadata of sparse matrices.
#pragma once

#include "tests/hardware/Draw.h"

namespace tile::hardware {

/// Bits of an element: f16, bf16, tf32, e4m3, e5m2, s8, u8, s4, u4, b1, f64, f32, s32.
unsigned elementBits(std::string_view type);

/// `count` elements in `groups` equal parts. Of floats, every fourth part has exponents around 1, the next
/// those of a wide range, the next of nearly all, the last any bits.
Values drawElements(std::string_view type, uint64_t seed, size_t groups, size_t count);
/// Integers from -4 to 4 in the format, whose sums are exact.
Values drawSmall(std::string_view type, uint64_t seed, size_t count);

/// Packs elements of fewer than 32 bits into words, the first lowest; wider ones stay.
Values packElements(const Values &elements, unsigned bits);
/// Words that are packed from small integers: those of place i in all words have the seed `seed` + i.
Values drawSmallWords(std::string_view type, uint64_t seed, size_t words);

/// Words of ordered metadata: in each nibble two different places of four, of tf32 one of two.
Values drawMetadata(std::string_view type, uint64_t seed, size_t words);

} // namespace tile::hardware
