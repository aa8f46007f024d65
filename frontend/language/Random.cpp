// Philox-4x32-10, written in the language itself: ten rounds of two multiplications each.
#include "frontend/language/Checks.h"
#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"

#include <tile/Random.h>

#include <numbers>

using namespace tile;
using namespace tile::frontend;

namespace {

// The generator's published constants.
constexpr int kRounds = 10;
constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier2 = 0xCD9E8D57;
constexpr uint32_t kKeyStep0 = 0x9E3779B9, kKeyStep1 = 0xBB67AE85;

/// Slightly below 2^-31, so that the largest word stays below 1.
constexpr float kUniformScale = 4.6566127342e-10f;
/// The logarithm of Box-Muller needs a positive number.
constexpr float kSmallestUniform = 1e-7f;

/// A 64-bit number as two words, which are host numbers or staged ones.
struct Words {
  Arg low, high;
};

Words wordsOf(Trace &trace, const Value &number, Loc loc) {
  Value wide = castValue(trace, u64, number, loc);
  Value high = Arg(wide, loc) >> Arg(32, loc);
  return {Arg(castValue(trace, u32, wide, loc), loc), Arg(castValue(trace, u32, high, loc), loc)};
}

Words seedWords(Trace &trace, const Arg &seed, Loc loc) {
  bool isFloating = seed.isStaged() ? isFloat(trace.type(seed.value(), loc).dtype)
                                    : seed.kind() == Arg::Kind::Float;
  if (isFloating)
    trace.fail(loc, "random numbers: the seed must be an integer, got a float");
  if (seed.isStaged())
    return wordsOf(trace, seed.value(), loc);
  auto bits = static_cast<uint64_t>(seed.asInt());
  return {Arg(static_cast<uint32_t>(bits), loc), Arg(static_cast<uint32_t>(bits >> 32), loc)};
}

Words offsetWords(Trace &trace, const Arg &offsets, Loc loc) {
  Value value = materialize(trace, offsets, loc);
  TileType type = trace.type(value, loc);
  if (!isInteger(type.dtype) || widthOf(type.dtype) < 32)
    trace.fail(loc,
               "random numbers: the offsets must be integers of 32 or 64 bits, got " + type.str() +
                   ": cast them",
               {madeNote(trace, "the offsets", value)});
  if (widthOf(type.dtype) == 64)
    return wordsOf(trace, value, loc);
  Value zero = trace.integer(u32, 0, loc, type.shape);
  return {Arg(castValue(trace, u32, value, loc), loc), Arg(zero, loc)};
}

/// A word as a uniform number: its bits as an integer with sign, folded onto the positive half.
Value uniform(Trace &trace, const Value &word, Loc loc) {
  Arg number(castValue(trace, i32, word, loc), loc);
  Value folded = select(Arg(number < Arg(0, loc), loc), Arg(~number, loc), number, loc);
  return Arg(castValue(trace, f32, folded, loc), loc) * Arg(kUniformScale, loc);
}

} // namespace

std::array<Value, 4> tile::randint4x(Arg seed, Arg offsets, Loc loc) {
  Trace &trace = Trace::current(loc);
  WithoutChecks wraps(trace);
  checkData(trace, "random numbers", seed, loc), checkData(trace, "random numbers", offsets, loc);
  auto [key0, key1] = seedWords(trace, seed, loc);
  Words offset = offsetWords(trace, offsets, loc);
  Value zero = trace.integer(u32, 0, loc, trace.type(offset.low.value(), loc).shape);
  Arg counter[] = {offset.low, offset.high, Arg(zero, loc), Arg(zero, loc)};
  for (int round = 0; round < kRounds; ++round) {
    // Unsigned arithmetic wraps, on the host as on the device.
    auto keyOf = [&](const Arg &key, uint32_t step) {
      uint32_t distance = step * static_cast<uint32_t>(round);
      return key.isStaged() ? Arg(key + Arg(distance, loc), loc)
                            : Arg(static_cast<uint32_t>(key.asInt()) + distance, loc);
    };
    Arg multiplier0(kMultiplier0, loc), multiplier2(kMultiplier2, loc);
    Value high0 = mulhi(counter[0], multiplier0, loc), low0 = counter[0] * multiplier0;
    Value high2 = mulhi(counter[2], multiplier2, loc), low2 = counter[2] * multiplier2;
    Arg first(Arg(high2, loc) ^ counter[1], loc), third(Arg(high0, loc) ^ counter[3], loc);
    counter[0] = Arg(first ^ keyOf(key0, kKeyStep0), loc);
    counter[1] = Arg(low2, loc);
    counter[2] = Arg(third ^ keyOf(key1, kKeyStep1), loc);
    counter[3] = Arg(low0, loc);
  }
  return {counter[0].value(), counter[1].value(), counter[2].value(), counter[3].value()};
}

Value tile::randint(Arg seed, Arg offsets, Loc loc) { return randint4x(seed, offsets, loc)[0]; }

Value tile::rand(Arg seed, Arg offsets, Loc loc) {
  return uniform(Trace::current(loc), randint(seed, offsets, loc), loc);
}

Value tile::randn(Arg seed, Arg offsets, Loc loc) {
  Trace &trace = Trace::current(loc);
  WithoutChecks wraps(trace);
  std::array<Value, 4> words = randint4x(seed, offsets, loc);
  Value first = max(Arg(uniform(trace, words[0], loc), loc), Arg(kSmallestUniform, loc), loc);
  Value angle = Arg(uniform(trace, words[1], loc), loc) * Arg(2 * std::numbers::pi_v<float>, loc);
  Value radius = sqrt(Arg(Arg(log(Arg(first, loc), loc), loc) * Arg(-2.0f, loc), loc), loc);
  return Arg(radius, loc) * Arg(cos(Arg(angle, loc), loc), loc);
}
