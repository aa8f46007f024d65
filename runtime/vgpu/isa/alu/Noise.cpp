// Random errors inside documented bounds.
#include "runtime/vgpu/isa/alu/Noise.h"

#include "runtime/vgpu/decode/Select.h"
#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>
#include <numbers>

namespace tile::vgpu {
namespace {

constexpr FloatFormat kSingle{8, 23, true};

FloatFormat formatOf(ScalarType type) {
  switch (type) {
  case ScalarType::F16:
  case ScalarType::F16x2:
    return kHalfFormat;
  case ScalarType::BF16:
  case ScalarType::BF16x2:
    return kBfloatFormat;
  default:
    return kSingle;
  }
}

double exactly(Approximate function, double x, double y) {
  switch (function) {
  case Approximate::Ex2:
    return std::exp2(x);
  case Approximate::Lg2:
    return std::log2(x);
  case Approximate::Sin:
    return std::sin(x);
  case Approximate::Cos:
    return std::cos(x);
  case Approximate::Tanh:
    return std::tanh(x);
  case Approximate::Rsqrt:
    return 1 / std::sqrt(x);
  case Approximate::Sqrt:
    return std::sqrt(x);
  case Approximate::Rcp:
    return 1 / x;
  default:
    return x / y;
  }
}

// The distance of neighbouring numbers of the format at `value`.
double ulp(FloatFormat format, double value) {
  int least = 2 - (1 << (format.exponentBits - 1));
  int exponent = value == 0 ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1.0, exponent - format.mantissaBits);
}

double trigonometricBound(double x) {
  constexpr double kTurn = 2 * std::numbers::pi;
  return std::fabs(x) <= kTurn        ? std::exp2(-20.5)
         : std::fabs(x) <= 50 * kTurn ? std::exp2(-14.7)
                                      : 0;
}

// A number in [-1, 1) that depends on all bits of the key.
double randomError(uint64_t seed, Approximate function, uint64_t operands) {
  uint64_t key =
      (seed + 1) * 0x9E3779B97F4A7C15u ^ (static_cast<uint64_t>(function) << 56) ^ operands;
  for (uint64_t factor : {0xBF58476D1CE4E5B9u, 0x94D049BB133111EBu})
    key = (key ^ key >> 30) * factor;
  return static_cast<double>(static_cast<int64_t>(key ^ key >> 31)) * 0x1p-63;
}

struct Call {
  Approximate function;
  ScalarType type;
  uint64_t seed;
};

// `plain` is the result without noise, in the low bits, as are the operands. Zeros, infinities and NaNs stay, as does what PTX
// says of a zero operand, and of what it has no bound for. Where the bound leaves no room the rounded result comes nearest.
uint32_t withNoise(const Call &call, uint32_t plain, uint32_t x, uint32_t y) {
  FloatFormat format = formatOf(call.type);
  double known = decodeFloat(plain, format), first = decodeFloat(x, format),
         second = decodeFloat(y, format);
  if (known == 0 || first == 0 || !std::isfinite(known))
    return plain;
  double truth = exactly(call.function, first, second);
  double bound = errorBound(call.function, call.type, first, truth);
  if (bound == 0)
    return plain;
  // The last rounding adds up to half a unit.
  double room = std::max(bound - ulp(format, truth) / 2, 0.0);
  double error = randomError(call.seed, call.function, uint64_t{x} << 32 | y);
  uint32_t result = encodeFloat(truth + error * room, format, Rounding::NearestEven);
  // Past a power of two the unit is twice as large.
  bool isInside = std::fabs(decodeFloat(result, format) - truth) <= bound;
  return isInside ? result : encodeFloat(truth, format, Rounding::NearestEven);
}

struct NoiseForm {
  Approximate function;
  ScalarType type;
};

// Rows: target, result without noise, operands.
void addNoise(Warp &warp, const Op &op) {
  auto form = formOf<NoiseForm>(op);
  Call call{form.function, form.type, warp.cta->launch->setup().seed};
  bool isPacked = call.type == ScalarType::F16x2 || call.type == ScalarType::BF16x2;
  bool isNarrow = isPacked || call.type == ScalarType::F16 || call.type == ScalarType::BF16;
  const uint32_t *plain = warp.row<uint32_t>(op.rows[1]), *x = warp.row<uint32_t>(op.rows[2]),
                 *y = warp.row<uint32_t>(op.rows[op.sources]);
  uint32_t *target = warp.row<uint32_t>(op.rows[0]);
  forLanes(warp.mask, [&](unsigned lane) {
    if (!isNarrow) {
      target[lane] = withNoise(call, plain[lane], x[lane], y[lane]);
      return;
    }
    uint32_t low = withNoise(call, plain[lane] & 0xffff, x[lane] & 0xffff, y[lane] & 0xffff);
    uint32_t high = isPacked ? withNoise(call, plain[lane] >> 16, x[lane] >> 16, y[lane] >> 16) : 0;
    target[lane] = low | high << 16;
  });
}

} // namespace

double errorBound(Approximate function, ScalarType type, double x, double truth) {
  FloatFormat format = formatOf(type);
  bool isHalf = format.mantissaBits == kHalfFormat.mantissaBits,
       isBfloat = format.mantissaBits == kBfloatFormat.mantissaBits;
  switch (function) {
  case Approximate::Ex2:
    return isHalf     ? std::fabs(truth) * std::exp2(-9.9)
           : isBfloat ? std::fabs(truth) * std::exp2(-7)
                      : 2 * ulp(format, truth);
  case Approximate::Lg2:
    return x > 0.5 && x < 2 ? std::exp2(-22) : std::fabs(truth) * std::exp2(-22);
  case Approximate::Sin:
  case Approximate::Cos:
    return trigonometricBound(x);
  case Approximate::Tanh:
    return isHalf     ? std::exp2(-10.987)
           : isBfloat ? std::exp2(-8)
                      : std::fabs(truth) * std::exp2(-11);
  case Approximate::Rsqrt:
    return truth * std::exp2(-22.9);
  case Approximate::Sqrt:
    return truth * std::exp2(-23);
  case Approximate::Rcp:
    return ulp(format, truth);
  default:
    return 2 * ulp(format, truth);
  }
}

void emitApproximate(Decoder &decoder, const Instruction &instruction, Approximate function,
                     Handlers handlers, ScalarType type, size_t operands) {
  if (!decoder.options().model.noise || !handlers || type == ScalarType::F64)
    return emitSimple(decoder, instruction, handlers, type, operands);
  decoder.wantOperands(instruction, operands);
  std::vector<uint32_t> sources;
  for (size_t i = 1; i < operands; ++i)
    sources.push_back(decoder.source(instruction.operands[i], type));
  uint32_t plain = decoder.temporary(4);
  decoder.emitWide(handlers, {&plain, 1}, sources);
  sources.insert(sources.begin(), plain);
  uint32_t target = decoder.target(instruction.operands[0], type);
  decoder.emitWide(addNoise, {&target, 1}, sources, 0, NoiseForm{function, type});
}

} // namespace tile::vgpu
