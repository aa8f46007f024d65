// The inputs of probes: numbers from a counter-based generator, the same on every machine, so that a recording
// holds outputs alone. A changed number makes every recording worthless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tile::hardware {

/// Bit patterns, in the lower bits of each element.
using Values = std::vector<uint64_t>;

/// Elements of 1, 2, 4 or 8 bytes, as they lie in memory.
struct Buffer {
  unsigned elementBytes = 4;
  std::vector<uint8_t> bytes;
  size_t size() const { return bytes.size() / elementBytes; }
  uint64_t at(size_t index) const;
};
Buffer pack(const Values &values, unsigned bits);

/// `count` words of 64 random bits: splitmix64 of a counter that begins at a function of the seed.
Values raw(uint64_t seed, size_t count);
/// Integers in [low, high), in two's complement.
std::vector<int64_t> choose(uint64_t seed, size_t count, int64_t low, int64_t high);

/// Bits of an operand of that kind: f32, f64, f16, bf16, f16x2, bf16x2, u8 to u64; shift (mostly near the
/// widths of registers); every16, every16x2 (evenly from all patterns of 16 bits); near:LOW:HIGH (f32 of
/// exponents in [LOW, HIGH)).
unsigned bitsOf(std::string_view kind);
/// Operands of that kind. Of floats a third are edge cases, of integers a quarter.
Values draw(std::string_view kind, uint64_t seed, size_t count);
/// Makes some operands of an operation on floats equal or opposite to the first, or nearly so: cancellation, ties.
void correlate(std::vector<Values> &operands, std::string_view kind, uint64_t seed);

} // namespace tile::hardware
