// Random tensors and dropout: maps of the positions of elements, each with a Philox word of its own.
#include <tile/ops/Random.h>

#include "ops/NewTensor.h"

#include <tile/ops/Map.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tile::ops {

Generator Generator::take(uint64_t count) {
  Generator before = *this;
  offset += count;
  return before;
}

namespace {

// --- Functions of tiles --------------------------------------------------------------------------

using Words = std::array<Value, 4>;

/// Two words as one of 64 bits.
Value wideWord(const Words &words, size_t first) {
  return cast(u64, words[first]) << 32 | cast(u64, words[first + 1]);
}
/// Uniform in [0, 1), a multiple of 2^-53.
Value uniform64(const Words &words, size_t first) {
  return cast(f64, wideWord(words, first) >> 11) * 0x1p-53;
}

struct Uniform {
  Value operator()(Value at, Value seed, Value offset, Value dropped, Value step) const {
    return cast(f32, randint(seed, at + offset) >> cast(u32, dropped)) * step;
  }
};
struct Uniform64 {
  Value operator()(Value at, Value seed, Value offset) const {
    return uniform64(randint4x(seed, at + offset), 0);
  }
};
struct Gauss {
  Value operator()(Value at, Value seed, Value offset, Value mean, Value deviation) const {
    // The radius from (0, 1], in steps of 2^-32; the angle, up to pi on either side, in steps of 2^-31 turns.
    Words words = randint4x(seed, at + offset);
    Value first = cast(f32, words[0]) * 0x1p-32f + 0x1p-33f;
    Value turns = cast(f32, cast(i32, words[1])) * 0x1p-32f;
    Value radius = sqrt(log(first) * -2.0f);
    return mean + deviation * (radius * cos(turns * (2 * std::numbers::pi_v<float>)));
  }
};
struct Gauss64 {
  Value operator()(Value at, Value seed, Value offset, Value mean, Value deviation) const {
    Words words = randint4x(seed, at + offset);
    Value first = uniform64(words, 0) + 0x1p-54, turns = uniform64(words, 2);
    Value radius = sqrt(log(first) * -2.0);
    return mean + deviation * (radius * cos(turns * (2 * std::numbers::pi)));
  }
};
struct Whole {
  Value operator()(Value at, Value seed, Value offset, Value low, Value count) const {
    Value word = wideWord(randint4x(seed, at + offset), 0);
    return low + cast(i64, mulhi(word, cast(u64, count)));
  }
};

/// True where the random word of a position is below `share`, which is in 0 .. 2^32.
Value isDrawn(Value at, Value seed, Value offset, Value share) {
  return cast(i64, randint(seed, at + offset)) < share;
}
struct Bernoulli {
  Value operator()(Value at, Value seed, Value offset, Value share) const {
    return cast(i32, isDrawn(at, seed, offset, share));
  }
};
struct Dropout {
  Value operator()(Value x, Value at, Value seed, Value offset, Value share, Value scale) const {
    return select(isDrawn(at, seed, offset, share), 0.0f, x * scale);
  }
};
struct DropoutAdd {
  Value operator()(Value x, Value residual, Value at, Value seed, Value offset, Value share,
                   Value scale) const {
    return residual + Dropout()(x, at, seed, offset, share, scale);
  }
};

// --- Arguments -----------------------------------------------------------------------------------

/// A state as kernels take it: 64 bits each, of either sign.
struct Bits {
  explicit Bits(const Generator &generator)
      : seed(static_cast<int64_t>(generator.seed)), offset(static_cast<int64_t>(generator.offset)) {
  }
  int64_t seed, offset;
};

/// The number of the 2^32 words that stand for an event of this probability.
int64_t shareOf(const Arguments &arguments, const char *name, double probability) {
  if (!(probability >= 0 && probability <= 1))
    arguments.fail(ErrorCode::InvalidArgument, std::string(name) + " is " +
                                                   std::to_string(probability) +
                                                   "; a probability is in 0 .. 1");
  return static_cast<int64_t>(std::llround(std::ldexp(probability, 32)));
}

/// The factor of elements that are kept; if none is kept (p = 1), any number will do.
double scaleOf(double p) { return p == 1 ? 0 : 1 / (1 - p); }

/// Draws for the elements of y after `draw` has launched: a refused call draws nothing.
template <class Draw> void drawFor(Generator &generator, const Operand &y, Draw draw) {
  draw(Bits(generator));
  generator.take(static_cast<uint64_t>(y.numel()));
}

void dropoutNamed(const detail::MapNames &names, CallSite site, const Bits &bits, const Operand &x,
                  double p, const Operand &y) {
  Arguments arguments(names.op, site);
  checkFloats(arguments, {{names.parameters.begin()[1], x}, {names.parameters.begin()[0], y}});
  int64_t share = shareOf(arguments, "p", p);
  detail::mapNamed(names, site, Dropout(), std::array{y}, x, Position(), bits.seed, bits.offset,
                   share, scaleOf(p));
}

/// The lowest and highest numbers are both y's.
void checkHolds(const Arguments &arguments, int64_t low, int64_t high, Named y) {
  if (high <= low)
    arguments.fail(ErrorCode::InvalidArgument, "low is " + std::to_string(low) + ", high is " +
                                                   std::to_string(high) +
                                                   ": no number lies between");
  arguments.fits("low", low, y), arguments.fits("high - 1", high - 1, y);
}

} // namespace

// --- Fills ---------------------------------------------------------------------------------------

void rand(const Stream &stream, Generator &generator, const Operand &y, Loc loc) {
  checkFloats(Arguments("rand", {stream, loc}), {{"y", y}});
  detail::MapNames names{"rand", {"y", "at", "seed", "offset", "dropped", "step"}};
  CallSite site(stream, loc);
  drawFor(generator, y, [&](Bits bits) {
    if (y.dtype() == f64)
      return detail::mapNamed(names, site, Uniform64(), std::array{y}, Position(), bits.seed,
                              bits.offset);
    // As many bits of the word as the dtype holds exactly: no rounding, which could give 1.
    int kept = y.dtype() == f32 ? 24 : y.dtype() == f16 ? 11 : 8;
    detail::mapNamed(names, site, Uniform(), std::array{y}, Position(), bits.seed, bits.offset,
                     32 - kept, std::ldexp(1.0f, -kept));
  });
}
Tensor rand(const Stream &stream, Generator &generator, DType dtype, std::span<const int64_t> shape,
            Loc loc) {
  Tensor y = newTensor(Arguments("rand", {stream, loc}), dtype, shape);
  rand(stream, generator, y, loc);
  return y;
}

void randn(const Stream &stream, Generator &generator, const Operand &y, double mean,
           double deviation, Loc loc) {
  Arguments arguments("randn", {stream, loc});
  checkFloats(arguments, {{"y", y}});
  if (!(deviation >= 0))
    arguments.fail(ErrorCode::InvalidArgument, "deviation is " + std::to_string(deviation) +
                                                   "; a number from 0 on is expected");
  detail::MapNames names{"randn", {"y", "at", "seed", "offset", "mean", "deviation"}};
  CallSite site(stream, loc);
  drawFor(generator, y, [&](Bits bits) {
    auto launch = [&](auto gauss) {
      detail::mapNamed(names, site, gauss, std::array{y}, Position(), bits.seed, bits.offset, mean,
                       deviation);
    };
    if (y.dtype() == f64)
      launch(Gauss64());
    else
      launch(Gauss());
  });
}
Tensor randn(const Stream &stream, Generator &generator, DType dtype,
             std::span<const int64_t> shape, double mean, double deviation, Loc loc) {
  Tensor y = newTensor(Arguments("randn", {stream, loc}), dtype, shape);
  randn(stream, generator, y, mean, deviation, loc);
  return y;
}

void randint(const Stream &stream, Generator &generator, int64_t low, int64_t high,
             const Operand &y, Loc loc) {
  Arguments arguments("randint", {stream, loc});
  arguments.dtypeIn({"y", y}, {i8, i16, i32, i64, u8, u16, u32, u64});
  checkHolds(arguments, low, high, {"y", y});
  // The number of numbers, beyond 2^63 too, as the bits of an i64.
  auto count = static_cast<int64_t>(static_cast<uint64_t>(high) - static_cast<uint64_t>(low));
  drawFor(generator, y, [&](Bits bits) {
    detail::mapNamed({"randint", {"y", "at", "seed", "offset", "low", "count"}},
                     CallSite(stream, loc), Whole(), std::array{y}, Position(), bits.seed,
                     bits.offset, low, count);
  });
}

void bernoulli(const Stream &stream, Generator &generator, double probability, const Operand &y,
               Loc loc) {
  Arguments arguments("bernoulli", {stream, loc});
  arguments.given({"y", y});
  int64_t share = shareOf(arguments, "probability", probability);
  drawFor(generator, y, [&](Bits bits) {
    detail::mapNamed({"bernoulli", {"y", "at", "seed", "offset", "share"}}, CallSite(stream, loc),
                     Bernoulli(), std::array{y}, Position(), bits.seed, bits.offset, share);
  });
}

// --- Dropout -------------------------------------------------------------------------------------

void dropout(const Stream &stream, Generator &generator, const Operand &x, double p,
             const Operand &y, Loc loc) {
  drawFor(generator, y, [&](Bits bits) {
    dropoutNamed({"dropout", {"y", "x", "at", "seed", "offset", "share", "scale"}},
                 CallSite(stream, loc), bits, x, p, y);
  });
}
Tensor dropout(const Stream &stream, Generator &generator, const Operand &x, double p, Loc loc) {
  Tensor y = newLike(Arguments("dropout", {stream, loc}), {"x", x}, x.dtype());
  dropout(stream, generator, x, p, y, loc);
  return y;
}

void dropoutBackward(const Stream &stream, const Generator &before, const Operand &dy, double p,
                     const Operand &dx, Loc loc) {
  dropoutNamed({"dropoutBackward", {"dx", "dy", "at", "seed", "offset", "share", "scale"}},
               CallSite(stream, loc), Bits(before), dy, p, dx);
}
Tensor dropoutBackward(const Stream &stream, const Generator &before, const Operand &dy, double p,
                       Loc loc) {
  Tensor dx = newLike(Arguments("dropoutBackward", {stream, loc}), {"dy", dy}, dy.dtype());
  dropoutBackward(stream, before, dy, p, dx, loc);
  return dx;
}

void dropoutAdd(const Stream &stream, Generator &generator, const Operand &x,
                const Operand &residual, double p, const Operand &y, Loc loc) {
  Arguments arguments("dropoutAdd", {stream, loc});
  checkFloats(arguments, {{"x", x}, {"residual", residual}, {"y", y}});
  int64_t share = shareOf(arguments, "p", p);
  drawFor(generator, y, [&](Bits bits) {
    detail::mapNamed(
        {"dropoutAdd", {"y", "x", "residual", "at", "seed", "offset", "share", "scale"}},
        CallSite(stream, loc), DropoutAdd(), std::array{y}, x, residual, Position(), bits.seed,
        bits.offset, share, scaleOf(p));
  });
}
Tensor dropoutAdd(const Stream &stream, Generator &generator, const Operand &x,
                  const Operand &residual, double p, Loc loc) {
  Tensor y = newBroadcast(Arguments("dropoutAdd", {stream, loc}), {"x", x}, {"residual", residual},
                          x.dtype());
  dropoutAdd(stream, generator, x, residual, p, y, loc);
  return y;
}

} // namespace tile::ops
