#include "tests/hardware/Closeness.h"

#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace tile::hardware {
namespace {

// Bounds of an H100's distance from the exact result, found over all operands, and half a unit by which the
// virtual GPU's may differ. Sines and cosines are those of the turns that an H100 takes operands for.
constexpr double kUpperWord = 4294967296.0; // units of f64 in one of its upper word
constexpr Closeness kCloseness[] = {
    {"ex2.approx.f32", "f32", 2},
    {"ex2.approx.ftz.f32", "f32", 2},
    {"lg2.approx.f32", "f32", 2, 0x1.1p-22},
    {"lg2.approx.ftz.f32", "f32", 2, 0x1.1p-22},
    {"rcp.approx.f32", "f32", 1},
    {"rcp.approx.ftz.f32", "f32", 1},
    {"rcp.approx.ftz.f64", "f64", kUpperWord},
    {"rsqrt.approx.f32", "f32", 1},
    {"rsqrt.approx.ftz.f32", "f32", 1},
    {"rsqrt.approx.f64", "f64", 1},
    {"rsqrt.approx.ftz.f64", "f64", kUpperWord},
    {"sqrt.approx.f32", "f32", 1},
    {"sqrt.approx.ftz.f32", "f32", 1},
    {"sin.approx.f32", "f32", 0, 0x1.7p-22},
    {"sin.approx.ftz.f32", "f32", 0, 0x1.7p-22},
    {"cos.approx.f32", "f32", 0, 0x1.7p-22},
    {"cos.approx.ftz.f32", "f32", 0, 0x1.7p-22},
    {"tanh.approx.f32", "f32", 188},
    {"tanh.approx.f16", "f16", 1},
    {"tanh.approx.f16x2", "f16", 1},
    {"tanh.approx.bf16", "bf16", 1},
    {"tanh.approx.bf16x2", "bf16", 1},
    {"div.full.f32", "f32", 2},
    {"div.full.ftz.f32", "f32", 2},
    {"div.approx.f32", "f32", 2},
    {"div.approx.ftz.f32", "f32", 2},
};

struct Format {
  std::string_view name;
  unsigned bits, fractionBits;
  uint64_t infinity;
};
constexpr Format kFormats[] = {{"f32", 32, 23, 0x7f800000},
                               {"f64", 64, 52, 0x7ff0000000000000},
                               {"f16", 16, 10, 0x7c00},
                               {"bf16", 16, 7, 0x7f80}};

const Format &formatOf(std::string_view name) {
  for (const Format &format : kFormats)
    if (format.name == name)
      return format;
  throw std::invalid_argument("no format " + std::string(name));
}

uint64_t magnitudeOf(uint64_t code, const Format &format) {
  return code & ((uint64_t{1} << (format.bits - 1)) - 1);
}

// The position of a number among all of its format, counted from zero; negative below zero.
double ordinalOf(uint64_t code, const Format &format) {
  auto magnitude = static_cast<double>(magnitudeOf(code, format));
  return code >> (format.bits - 1) & 1 ? -magnitude : magnitude;
}

bool isClose(const Closeness &closeness, const Format &format, uint64_t a, uint64_t b) {
  if (a == b)
    return true;
  if (magnitudeOf(a, format) > format.infinity || magnitudeOf(b, format) > format.infinity)
    return false;
  if (closeness.units > 0 && unitsBetween(a, b, closeness.format) <= closeness.units)
    return true;
  if (format.bits != 32 || closeness.absolute == 0)
    return false;
  auto toFloat = [](uint64_t code) {
    return double{std::bit_cast<float>(static_cast<uint32_t>(code))};
  };
  return std::fabs(toFloat(a) - toFloat(b)) <= closeness.absolute; // never of infinities
}

} // namespace

const Closeness *closenessOf(std::string_view probe) {
  for (const Closeness &closeness : kCloseness)
    if (probe.substr(0, probe.find('@')) == closeness.probes)
      return &closeness;
  return nullptr;
}

double unitsBetween(uint64_t a, uint64_t b, std::string_view format) {
  return std::fabs(ordinalOf(a, formatOf(format)) - ordinalOf(b, formatOf(format)));
}

bool areClose(const Closeness &closeness, uint64_t a, uint64_t b, unsigned bits) {
  const Format &format = formatOf(closeness.format);
  uint64_t mask = format.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << format.bits) - 1;
  for (unsigned at = 0; at < bits; at += format.bits)
    if (!isClose(closeness, format, a >> at & mask, b >> at & mask))
      return false;
  return true;
}

} // namespace tile::hardware
