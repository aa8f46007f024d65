#include "tests/hardware/TensorElements.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace tile::hardware {
namespace {

struct Range {
  int64_t low, high; // exponents in [low, high)
};

struct Format {
  std::string_view name;
  unsigned bits;
  unsigned exponentBits = 0, fractionBits = 0; // of floats
  Range narrow{}, wide{};
  bool wideFormat = false; // exponents of more than 80 powers of two
  int64_t bias() const { return (int64_t{1} << (exponentBits - 1)) - 1; }
};

constexpr Format kFormats[] = {{"f16", 16, 5, 10, {-1, 2}, {-8, 9}},
                               {"bf16", 16, 8, 7, {-1, 2}, {-15, 16}, true},
                               {"tf32", 32, 8, 23, {-1, 2}, {-15, 16}, true},
                               {"e4m3", 8, 4, 3, {-1, 2}, {-6, 9}},
                               {"e5m2", 8, 5, 2, {-1, 2}, {-14, 16}},
                               {"f32", 32, 8, 23, {-1, 3}, {-14, 15}, true},
                               {"f64", 64, 11, 52, {-1, 2}, {-30, 31}, true},
                               {"s8", 8},
                               {"u8", 8},
                               {"s4", 4},
                               {"u4", 4},
                               {"b1", 1},
                               {"s32", 32}};
constexpr uint64_t kTf32Bits = 0xffffe000;
constexpr uint64_t kE4m3NaN = 0x7f;
enum Mode : size_t { Narrow, Wide, Nearly, Any, Modes };

const Format &formatOf(std::string_view type) {
  for (const Format &format : kFormats)
    if (format.name == type)
      return format;
  throw std::invalid_argument("no elements of type " + std::string(type));
}

uint64_t lowerBits(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

Range rangeOf(const Format &format, Mode mode) {
  constexpr int64_t kMost = 40;
  int64_t bias = format.bias();
  if (mode != Nearly)
    return mode == Narrow ? format.narrow : format.wide;
  return format.wideFormat ? Range{std::max(1 - bias, -kMost), std::min(bias, kMost)}
                           : Range{-bias, bias + 1};
}

// One in eight is zero in the first two modes.
uint64_t floatOf(const Format &format, Mode mode, uint64_t x, uint64_t choice) {
  unsigned magnitudeBits = format.exponentBits + format.fractionBits;
  uint64_t sign = x >> 63 << magnitudeBits;
  if (mode == Any)
    return (x & lowerBits(magnitudeBits)) | sign;
  Range range = rangeOf(format, mode);
  uint64_t exponent = static_cast<uint64_t>(format.bias() + range.low) +
                      (choice >> 20) % static_cast<uint64_t>(range.high - range.low);
  bool zero = choice % 8 == 0 && mode != Nearly;
  uint64_t code = zero ? 0 : exponent << format.fractionBits | (x & lowerBits(format.fractionBits));
  if (format.name == "e4m3" && code == kE4m3NaN)
    return 0;
  return (code | sign) & (format.name == "tf32" ? kTf32Bits : ~uint64_t{0});
}

uint64_t smallOf(const Format &format, int64_t value) {
  if (format.fractionBits == 0)
    return static_cast<uint64_t>(value) & lowerBits(format.bits);
  auto magnitude = static_cast<uint64_t>(std::abs(value));
  uint64_t sign = uint64_t{value < 0} << (format.exponentBits + format.fractionBits);
  if (magnitude == 0)
    return sign;
  auto exponent = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  uint64_t fraction = magnitude << format.fractionBits >> exponent & lowerBits(format.fractionBits);
  return sign | (static_cast<uint64_t>(format.bias()) + exponent) << format.fractionBits | fraction;
}

} // namespace

unsigned elementBits(std::string_view type) { return formatOf(type).bits; }

Values drawElements(std::string_view type, uint64_t seed, size_t groups, size_t count) {
  constexpr uint64_t kSeedOfChoice = 77777;
  const Format &format = formatOf(type);
  Values x = raw(seed, count);
  if (format.fractionBits == 0) {
    for (uint64_t &value : x)
      value &= lowerBits(format.bits);
    return x;
  }
  Values choice = raw(seed + kSeedOfChoice, count);
  for (size_t i = 0; i < count; ++i)
    x[i] = floatOf(format, static_cast<Mode>(i / (count / groups) % Modes), x[i], choice[i]);
  return x;
}

Values drawSmall(std::string_view type, uint64_t seed, size_t count) {
  Values result;
  for (int64_t value : choose(seed, count, -4, 5))
    result.push_back(smallOf(formatOf(type), value));
  return result;
}

Values packElements(const Values &elements, unsigned bits) {
  if (bits >= 32)
    return elements;
  size_t perWord = 32 / bits;
  Values result(elements.size() / perWord);
  for (size_t i = 0; i < elements.size(); ++i)
    result[i / perWord] |= elements[i] << i % perWord * bits;
  return result;
}

Values drawSmallWords(std::string_view type, uint64_t seed, size_t words) {
  unsigned bits = elementBits(type);
  Values result(words);
  for (size_t place = 0; place < std::max<size_t>(1, 32 / bits); ++place) {
    Values part = drawSmall(type, seed + place, words);
    for (size_t i = 0; i < words; ++i)
      result[i] |= part[i] << place * bits;
  }
  return result;
}

Values drawMetadata(std::string_view type, uint64_t seed, size_t words) {
  constexpr uint64_t kNibbles = 8;
  const Values pairs = type == "tf32" ? Values{0x4, 0xe} : Values{0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  Values result(words);
  for (uint64_t nibble = 0; nibble < kNibbles; ++nibble) {
    auto choice = choose(seed * kNibbles + nibble, words, 0, static_cast<int64_t>(pairs.size()));
    for (size_t i = 0; i < words; ++i)
      result[i] |= pairs[static_cast<size_t>(choice[i])] << 4 * nibble;
  }
  return result;
}

} // namespace tile::hardware
