#include "tests/hardware/Draw.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tile::hardware {
namespace {

// Streams of a seed, one for each thing that is drawn.
constexpr uint64_t kStreams = 16;
enum Stream : uint64_t { Body = 1, Sign, Kind, NearExponent, ShortExponent, SubnormalShift, Edge };

struct Format {
  unsigned exponentBits, fractionBits;
  int64_t bias;
  Values edges; // positive: zeros, subnormals, ones, halves, bounds of integers, infinities, NaN
  unsigned bits() const { return 1 + exponentBits + fractionBits; }
};

const Format kF32{
    8, 23, 127, {0,          1,          2,          0x7fffff,   0x400000,   0x800000,   0x800001,
                 0x3f800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x3fc00000, 0x40000000, 0x40200000,
                 0x477fe000, 0x477ff000, 0x47800000, 0x43e00000, 0x43e80000, 0x4b000000, 0x4b000001,
                 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0x5f7fffff,
                 0x5f800000, 0x7e800000, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fa00000,
                 0x7fc00000, 0x7fc12345, 0x7fffffff}};
const Format kF64{11,
                  52,
                  1023,
                  {0,
                   1,
                   2,
                   0x000fffffffffffff,
                   0x0010000000000000,
                   0x3ff0000000000000,
                   0x3fefffffffffffff,
                   0x3ff0000000000001,
                   0x3fe0000000000000,
                   0x4004000000000000,
                   0x40dffc0000000000,
                   0x41dfffffffc00000,
                   0x41e0000000000000,
                   0x41efffffffe00000,
                   0x41f0000000000000,
                   0x43e0000000000000,
                   0x43dfffffffffffff,
                   0x43f0000000000000,
                   0x47efffffe0000000,
                   0x47effffff0000000,
                   0x47f0000000000000,
                   0x3810000000000000,
                   0x3800000000000000,
                   0x36a0000000000000,
                   0x7fdfffffffffffff,
                   0x7fe0000000000000,
                   0x7fefffffffffffff,
                   0x7ff0000000000000,
                   0x7ff0000000000001,
                   0x7ff4000000000000,
                   0x7ff8000000000000,
                   0x7ff8123456789abc,
                   0x7fffffffffffffff}};
const Format kF16{5, 10, 15, {0,      1,      2,      0x3ff,  0x400,  0x401,  0x3c00,
                              0x3bff, 0x3c01, 0x3800, 0x4100, 0x5f00, 0x5f80, 0x7bff,
                              0x7c00, 0x7c01, 0x7d00, 0x7e00, 0x7e12, 0x7fff}};
const Format kBf16{8, 7, 127, {0,      1,      2,      0x7f,   0x80,   0x81,   0x3f80, 0x3f7f,
                               0x3f81, 0x3f00, 0x4020, 0x43e0, 0x43e8, 0x4f00, 0x5f00, 0x7f7f,
                               0x7f80, 0x7f81, 0x7fa0, 0x7fc0, 0x7fc1, 0x7fff}};
const Values kIntegerEdges{0,        1,          2,          3,         5,        7,
                           8,        15,         16,         31,        32,       33,
                           63,       64,         127,        128,       255,      256,
                           0x7fff,   0x8000,     0xffff,     0x10000,   0x7fffff, 0x800000,
                           0xffffff, 0x7fffffff, 0x80000000, 0xffffffff};

uint64_t lowerBits(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

uint64_t streamOf(uint64_t seed, uint64_t stream) { return seed * kStreams + stream; }

// A third edges, a third any pattern, a quarter around 1; the others have few significant bits, which makes
// ties, integers and halves, or are subnormal.
Values floats(const Format &format, uint64_t seed, size_t count) {
  unsigned fractionBits = format.fractionBits;
  auto exponents = [&](Stream stream, int64_t below, int64_t above) {
    return choose(streamOf(seed, stream), count, format.bias - below, format.bias + above);
  };
  Values body = raw(streamOf(seed, Body), count), sign = raw(streamOf(seed, Sign), count);
  auto kind = choose(streamOf(seed, Kind), count, 0, 12);
  auto nearExponent = exponents(NearExponent, 6, 7),
       shortExponent = exponents(ShortExponent, 4, 36);
  Values shift = raw(streamOf(seed, SubnormalShift), count);
  auto edge = choose(streamOf(seed, Edge), count, 0, static_cast<int64_t>(format.edges.size()));
  Values result(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t fraction = body[i] & lowerBits(fractionBits);
    auto withExponent = [&](int64_t exponent, uint64_t bits) {
      return static_cast<uint64_t>(exponent) << fractionBits | bits;
    };
    uint64_t value = body[i] & lowerBits(format.bits() - 1);
    if (kind[i] < 4)
      value = format.edges[static_cast<size_t>(edge[i])];
    else if (kind[i] >= 6 && kind[i] < 9)
      value = withExponent(nearExponent[i], fraction);
    else if (kind[i] == 9)
      value = withExponent(shortExponent[i] % (int64_t{1} << format.exponentBits),
                           fraction >> (fractionBits - 3) << (fractionBits - 3));
    else if (kind[i] == 10)
      value = fraction >> shift[i] % fractionBits;
    result[i] = value | (sign[i] & 1) << (format.bits() - 1);
  }
  return result;
}

Values nearFloats(uint64_t seed, size_t count, int64_t low, int64_t high) {
  Values x = raw(streamOf(seed, 1), count);
  auto exponent = choose(streamOf(seed, 2), count, low + kF32.bias, high + kF32.bias);
  for (size_t i = 0; i < count; ++i)
    x[i] = static_cast<uint64_t>(exponent[i]) << kF32.fractionBits |
           (x[i] & lowerBits(kF32.fractionBits)) | x[i] >> 63 << 31;
  return x;
}

// A quarter edges of either sign, a quarter of random width, the others any.
Values integers(uint64_t seed, size_t count, unsigned bits) {
  Values edges;
  for (uint64_t edge : kIntegerEdges)
    if (edge <= lowerBits(bits))
      edges.push_back(edge);
  uint64_t top = uint64_t{1} << (bits - 1);
  edges.insert(edges.end(), {lowerBits(bits), top, top - 1});
  Values x = raw(streamOf(seed, 1), count), sign = raw(streamOf(seed, 3), count),
         shift = raw(streamOf(seed, 4), count);
  auto edge = choose(streamOf(seed, 2), count, 0, static_cast<int64_t>(edges.size()));
  auto kind = choose(streamOf(seed, 5), count, 0, 4);
  for (size_t i = 0; i < count; ++i) {
    if (kind[i] == 0)
      x[i] = sign[i] & 1 ? edges[static_cast<size_t>(edge[i])]
                         : 0 - edges[static_cast<size_t>(edge[i])];
    else if (kind[i] == 1)
      x[i] >>= shift[i] % 64;
    x[i] &= lowerBits(bits);
  }
  return x;
}

Values shifts(uint64_t seed, size_t count) {
  auto usual = choose(streamOf(seed, 0), count, 0, 80),
       odd = choose(streamOf(seed, 1), count, 0, 8);
  Values result = integers(seed, count, 32);
  for (size_t i = 0; i < count; ++i)
    if (odd[i] != 0)
      result[i] = static_cast<uint64_t>(usual[i]);
  return result;
}

Values pairs(const Format &format, uint64_t seed, size_t count) {
  Values low = floats(format, 2 * seed, count), high = floats(format, 2 * seed + 1, count);
  for (size_t i = 0; i < count; ++i)
    low[i] |= high[i] << 16;
  return low;
}

Values every16(size_t count, bool inPairs) {
  constexpr uint64_t kPatterns = 65536, kFactor = 40503, kOffset = 7;
  Values result(count);
  for (size_t i = 0; i < count; ++i) {
    uint64_t low = i * std::max<size_t>(1, kPatterns / count) % kPatterns;
    result[i] = inPairs ? low | (low * kFactor + kOffset) % kPatterns << 16 : low;
  }
  return result;
}

bool isNear(std::string_view kind) { return kind.starts_with("near:"); }

} // namespace

uint64_t Buffer::at(size_t index) const {
  uint64_t value = 0;
  for (unsigned i = 0; i < elementBytes; ++i)
    value |= uint64_t{bytes[index * elementBytes + i]} << 8 * i;
  return value;
}

Buffer pack(const Values &values, unsigned bits) {
  Buffer result{bits / 8, {}};
  result.bytes.reserve(values.size() * result.elementBytes);
  for (uint64_t value : values)
    for (unsigned i = 0; i < result.elementBytes; ++i)
      result.bytes.push_back(static_cast<uint8_t>(value >> 8 * i));
  return result;
}

Values raw(uint64_t seed, size_t count) {
  Values result(count);
  uint64_t counter = seed * 0xd1342543de82ef95 + 0x632be59bd9b4e019;
  for (uint64_t &value : result) {
    uint64_t z = counter += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    value = z ^ z >> 31;
  }
  return result;
}

std::vector<int64_t> choose(uint64_t seed, size_t count, int64_t low, int64_t high) {
  std::vector<int64_t> result;
  result.reserve(count);
  for (uint64_t value : raw(seed, count))
    result.push_back(static_cast<int64_t>(value >> 11) % (high - low) + low);
  return result;
}

unsigned bitsOf(std::string_view kind) {
  if (isNear(kind) || kind == "shift" || kind.ends_with("x2"))
    return 32;
  if (kind == "bf16" || kind == "every16")
    return 16;
  return static_cast<unsigned>(std::stoi(std::string(kind.substr(1))));
}

Values draw(std::string_view kind, uint64_t seed, size_t count) {
  if (kind == "f32")
    return floats(kF32, seed, count);
  if (kind == "f64")
    return floats(kF64, seed, count);
  if (kind == "f16")
    return floats(kF16, seed, count);
  if (kind == "bf16")
    return floats(kBf16, seed, count);
  if (kind == "f16x2" || kind == "bf16x2")
    return pairs(kind == "f16x2" ? kF16 : kBf16, seed, count);
  if (kind == "every16" || kind == "every16x2")
    return every16(count, kind == "every16x2");
  if (kind == "shift")
    return shifts(seed, count);
  if (isNear(kind)) {
    std::string text(kind.substr(kind.find(':') + 1));
    return nearFloats(seed, count, std::stoi(text), std::stoi(text.substr(text.find(':') + 1)));
  }
  if (kind.starts_with('u'))
    return integers(seed, count, bitsOf(kind));
  throw std::invalid_argument("no operands of kind " + std::string(kind));
}

void correlate(std::vector<Values> &operands, std::string_view kind, uint64_t seed) {
  constexpr uint64_t kStreamsOfOperands = 97;
  static const std::string_view kFloats[] = {"f32", "f64", "f16", "bf16", "f16x2", "bf16x2"};
  if (std::find(std::begin(kFloats), std::end(kFloats), kind) == std::end(kFloats))
    return;
  uint64_t top = uint64_t{1} << (bitsOf(kind) - 1);
  for (size_t k = 1; k < operands.size(); ++k) {
    auto choice = choose(seed * kStreamsOfOperands + k, operands[0].size(), 0, 16);
    for (size_t i = 0; i < operands[k].size(); ++i) {
      uint64_t first = operands[0][i];
      if (choice[i] == 0)
        operands[k][i] = first;
      else if (choice[i] == 1)
        operands[k][i] = first ^ top;
      else if (choice[i] == 2)
        operands[k][i] = ((first ^ top) + 1) & lowerBits(bitsOf(kind));
    }
  }
}

} // namespace tile::hardware
