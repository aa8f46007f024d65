// Activations: each function and each derivative is a map. On f32 all of them rest on one exponential of numbers up to 0,
// accurate to a few ulp where the machine's loses them, and cost less than the library's functions.
#include <tile/ops/Activations.h>

#include "ops/NewTensor.h"

#include <tile/ops/Map.h>

namespace tile::ops {

namespace {

// --- Functions of tiles --------------------------------------------------------------------------

/// exp(x) for x <= 0. On f32: exp2 of x * log2(e), whose rounding error is made good by a factor. Results below 2^-126 are
/// kept, which exp2 makes zero: multiplied by x they may be normal numbers.
Value expBelowZero(Value x) {
  if (x.dtype() == f64)
    return exp(x);
  constexpr float kLog2E = 1.44269502f, kLog2ERest = 1.92596303e-8f, kLog2 = 0.693147181f;
  constexpr float kGivesZero = -105.0f; // keeps infinity from the differences below
  x = max_nan(x, kGivesZero);
  Value power = x * kLog2E;
  Value rest = fma(x, kLog2E, -power) + x * kLog2ERest;
  Value raised = inline_ptx("ex2.approx.f32 $0, $1;", "=f,f", {power}, {f32})[0];
  return raised * fma(rest, kLog2, 1.0f);
}

/// All functions here are at their limits where |x| is larger: there an infinity does not meet a zero.
constexpr double kFar = 1000;
Value withoutMinusInfinity(Value x) { return max_nan(x, -kFar); }
Value withoutInfinities(Value x) { return clamp_nan(x, -kFar, kFar); }

/// sigmoid(x) and 1 - sigmoid(x), both without cancellation.
struct Logistic {
  Value at, rest;
};
Logistic logistic(Value x) {
  Value z = expBelowZero(-abs(x));
  Value larger = 1.0f / (1.0f + z), smaller = z * larger;
  Value isPositive = x >= 0.0f;
  return {select(isPositive, larger, smaller), select(isPositive, smaller, larger)};
}

/// The distribution of a standard normal variable and its density, for |x| <= kFar.
struct Normal {
  Value below, density;
};
/// exp(-x * x / 2), with the rounding error of the square.
Value gaussian(Value x) {
  Value square = x * x, rest = fma(x, x, -square);
  return expBelowZero(square * -0.5f) * fma(rest, -0.5f, 1.0f);
}
Normal normal(Value x) {
  constexpr double kSqrtHalf = 0.70710678118654752, kDensity = 0.39894228040143268;
  Value bell = gaussian(x);
  if (x.dtype() == f64)
    return {0.5f + 0.5f * erf(x * kSqrtHalf), bell * kDensity};
  // erfc(u) = t * exp(p(t) - u * u), t = 1 / (1 + u / 2), to 1.2e-7 of itself: W. H. Press et al., Numerical
  // Recipes, "Error Function". The constant term comes first.
  constexpr float kTerms[] = {-1.26551223f, 1.00002368f,  0.37409196f, 0.09678418f,  -0.18628806f,
                              0.27886807f,  -1.13520398f, 1.48851587f, -0.82215223f, 0.17087277f};
  Value t = 1.0f / fma(abs(x), kSqrtHalf / 2, 1.0f);
  Value sum = t * kTerms[9] + kTerms[8];
  for (int term = 7; term >= 0; --term)
    sum = fma(sum, t, kTerms[term]);
  Value tail = 0.5f * t * expBelowZero(sum) * bell;
  return {select(x < 0.0f, tail, 1.0f - tail), bell * kDensity};
}

/// geluTanh(x) is x * sigmoid(v), v = x * (kLinear + kCubic * x * x): tanh(u) is 2 * sigmoid(2 * u) - 1.
constexpr double kLinear = 1.5957691216057308, kCubic = kLinear * 0.044715;

// --- The ops -------------------------------------------------------------------------------------

struct Relu {
  static constexpr const char *kName = "relu", *kBackward = "reluBackward";
  static Value at(Value x) { return max_nan(x, 0.0f); }
};
struct Gelu {
  static constexpr const char *kName = "gelu", *kBackward = "geluBackward";
  static Value at(Value x) { return withoutMinusInfinity(x) * normal(withoutInfinities(x)).below; }
  static Value slope(Value x) {
    x = withoutInfinities(x);
    Normal n = normal(x);
    return n.below + x * n.density;
  }
};
struct GeluTanh {
  static constexpr const char *kName = "geluTanh", *kBackward = "geluTanhBackward";
  static Value at(Value x) {
    x = withoutMinusInfinity(x);
    return x * logistic(x * (kLinear + kCubic * (x * x))).at;
  }
  static Value slope(Value x) {
    x = withoutInfinities(x);
    Value square = x * x;
    Logistic s = logistic(x * (kLinear + kCubic * square));
    return s.at + x * (s.at * s.rest) * (kLinear + 3 * kCubic * square);
  }
};
struct Silu {
  static constexpr const char *kName = "silu", *kBackward = "siluBackward";
  static Value at(Value x) { return withoutMinusInfinity(x) * logistic(x).at; }
  static Value slope(Value x) {
    x = withoutInfinities(x);
    Logistic s = logistic(x);
    return s.at * (1.0f + x * s.rest);
  }
};
struct Sigmoid {
  static constexpr const char *kName = "sigmoid", *kBackward = "sigmoidBackward";
  static Value at(Value x) { return logistic(x).at; }
  static Value slope(Value x) {
    Logistic s = logistic(x);
    return s.at * s.rest;
  }
};
struct Tanh {
  static constexpr const char *kName = "tanh", *kBackward = "tanhBackward";
  static Value at(Value x) {
    if (x.dtype() == f64)
      return tile::tanh(x);
    // Near 0 a polynomial (S. L. Moshier, Cephes, tanhf): the quotient loses digits there.
    constexpr float kNear = 0.625f;
    constexpr float kTerms[] = {-3.33332819422e-1f, 1.33314422036e-1f, -5.37397155531e-2f,
                                2.06390887954e-2f, -5.70498872745e-3f};
    Value square = x * x, sum = square * kTerms[4] + kTerms[3];
    for (int term = 2; term >= 0; --term)
      sum = fma(sum, square, kTerms[term]);
    Value z = expBelowZero(-2.0f * abs(x)), far = (1.0f - z) / (1.0f + z);
    return select(abs(x) < kNear, fma(sum * square, x, x), select(x < 0.0f, -far, far));
  }
  static Value slope(Value x) {
    Logistic s = logistic(2.0f * x);
    return 4.0f * s.at * s.rest;
  }
};

template <class F> struct Forward {
  Value operator()(Value x) const { return F::at(x); }
};
template <class F> struct Backward {
  Value operator()(Value x, Value dy) const { return dy * F::slope(x); }
};
template <> struct Backward<Relu> {
  Value operator()(Value x, Value dy) const { return select(x <= 0.0f, 0.0f, dy); }
};
struct Swiglu {
  Value operator()(Value a, Value b) const { return Silu::at(a) * b; }
};
struct SwigluBackward {
  std::array<Value, 2> operator()(Value a, Value b, Value dy) const {
    return {dy * b * Silu::slope(a), dy * Silu::at(a)};
  }
};

template <class F> void forward(const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  checkFloats(Arguments(F::kName, {stream, loc}), {{"x", x}, {"y", y}});
  detail::mapNamed({F::kName, {"y", "x"}}, CallSite(stream, loc), Forward<F>(), std::array{y}, x);
}
template <class F> Tensor forward(const Stream &stream, const Operand &x, Loc loc) {
  Tensor y = newLike(Arguments(F::kName, {stream, loc}), {"x", x}, x.dtype());
  forward<F>(stream, x, y, loc);
  return y;
}

template <class F>
void backward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
              Loc loc) {
  checkFloats(Arguments(F::kBackward, {stream, loc}), {{"x", x}, {"dy", dy}, {"dx", dx}});
  detail::mapNamed({F::kBackward, {"dx", "x", "dy"}}, CallSite(stream, loc), Backward<F>(),
                   std::array{dx}, x, dy);
}
template <class F>
Tensor backward(const Stream &stream, const Operand &x, const Operand &dy, Loc loc) {
  Tensor dx = newBroadcast(Arguments(F::kBackward, {stream, loc}), {"x", x}, {"dy", dy}, x.dtype());
  backward<F>(stream, x, dy, dx, loc);
  return dx;
}

void swigluNamed(const char *op, const Stream &stream, const Operand &a, const Operand &b,
                 const Operand &y, Loc loc) {
  checkFloats(Arguments(op, {stream, loc}), {{"a", a}, {"b", b}, {"y", y}});
  detail::mapNamed({op, {"y", "a", "b"}}, CallSite(stream, loc), Swiglu(), std::array{y}, a, b);
}
void swigluBackwardNamed(const char *op, const Stream &stream, const Operand &a, const Operand &b,
                         const Operand &dy, const Operand &da, const Operand &db, Loc loc) {
  checkFloats(Arguments(op, {stream, loc}),
              {{"a", a}, {"b", b}, {"dy", dy}, {"da", da}, {"db", db}});
  detail::mapNamed({op, {"da", "db", "a", "b", "dy"}}, CallSite(stream, loc), SwigluBackward(),
                   std::array{da, db}, a, b, dy);
}

struct Halves {
  Operand a, b;
};
Halves halvesOf(const Arguments &arguments, Named ab) {
  arguments.given(ab);
  int last = ab.operand.rank() - 1;
  if (last < 0 || ab.operand.extent(last) % 2 != 0)
    arguments.fail(ErrorCode::InvalidShape, std::string(ab.name) + " is " + ab.operand.str() +
                                                "; its last dimension must have an even extent");
  int64_t half = ab.operand.extent(last) / 2;
  return {ab.operand.slice(last, 0, half), ab.operand.slice(last, half, half)};
}

} // namespace

void relu(const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  forward<Relu>(stream, x, y, loc);
}
Tensor relu(const Stream &stream, const Operand &x, Loc loc) {
  return forward<Relu>(stream, x, loc);
}
void reluBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                  Loc loc) {
  backward<Relu>(stream, x, dy, dx, loc);
}
Tensor reluBackward(const Stream &stream, const Operand &x, const Operand &dy, Loc loc) {
  return backward<Relu>(stream, x, dy, loc);
}

void gelu(const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  forward<Gelu>(stream, x, y, loc);
}
Tensor gelu(const Stream &stream, const Operand &x, Loc loc) {
  return forward<Gelu>(stream, x, loc);
}
void geluBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                  Loc loc) {
  backward<Gelu>(stream, x, dy, dx, loc);
}
Tensor geluBackward(const Stream &stream, const Operand &x, const Operand &dy, Loc loc) {
  return backward<Gelu>(stream, x, dy, loc);
}

void geluTanh(const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  forward<GeluTanh>(stream, x, y, loc);
}
Tensor geluTanh(const Stream &stream, const Operand &x, Loc loc) {
  return forward<GeluTanh>(stream, x, loc);
}
void geluTanhBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                      Loc loc) {
  backward<GeluTanh>(stream, x, dy, dx, loc);
}
Tensor geluTanhBackward(const Stream &stream, const Operand &x, const Operand &dy, Loc loc) {
  return backward<GeluTanh>(stream, x, dy, loc);
}

void silu(const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  forward<Silu>(stream, x, y, loc);
}
Tensor silu(const Stream &stream, const Operand &x, Loc loc) {
  return forward<Silu>(stream, x, loc);
}
void siluBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                  Loc loc) {
  backward<Silu>(stream, x, dy, dx, loc);
}
Tensor siluBackward(const Stream &stream, const Operand &x, const Operand &dy, Loc loc) {
  return backward<Silu>(stream, x, dy, loc);
}

void sigmoid(const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  forward<Sigmoid>(stream, x, y, loc);
}
Tensor sigmoid(const Stream &stream, const Operand &x, Loc loc) {
  return forward<Sigmoid>(stream, x, loc);
}
void sigmoidBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                     Loc loc) {
  backward<Sigmoid>(stream, x, dy, dx, loc);
}
Tensor sigmoidBackward(const Stream &stream, const Operand &x, const Operand &dy, Loc loc) {
  return backward<Sigmoid>(stream, x, dy, loc);
}

void tanh(const Stream &stream, const Operand &x, const Operand &y, Loc loc) {
  forward<Tanh>(stream, x, y, loc);
}
Tensor tanh(const Stream &stream, const Operand &x, Loc loc) {
  return forward<Tanh>(stream, x, loc);
}
void tanhBackward(const Stream &stream, const Operand &x, const Operand &dy, const Operand &dx,
                  Loc loc) {
  backward<Tanh>(stream, x, dy, dx, loc);
}
Tensor tanhBackward(const Stream &stream, const Operand &x, const Operand &dy, Loc loc) {
  return backward<Tanh>(stream, x, dy, loc);
}

void swiglu(const Stream &stream, const Operand &a, const Operand &b, const Operand &y, Loc loc) {
  swigluNamed("swiglu", stream, a, b, y, loc);
}
Tensor swiglu(const Stream &stream, const Operand &a, const Operand &b, Loc loc) {
  Tensor y = newBroadcast(Arguments("swiglu", {stream, loc}), {"a", a}, {"b", b}, a.dtype());
  swiglu(stream, a, b, y, loc);
  return y;
}
void swigluBackward(const Stream &stream, const Operand &a, const Operand &b, const Operand &dy,
                    const Operand &da, const Operand &db, Loc loc) {
  swigluBackwardNamed("swigluBackward", stream, a, b, dy, da, db, loc);
}

void swigluHalves(const Stream &stream, const Operand &ab, const Operand &y, Loc loc) {
  Arguments arguments("swigluHalves", {stream, loc});
  auto [a, b] = halvesOf(arguments, {"ab", ab});
  checkFloats(arguments, {{"ab", ab}, {"y", y}});
  arguments.broadcastsTo({"a half of ab", a}, {"y", y});
  arguments.accessible({{"ab", ab}, {"y", y}});
  arguments.elementsDistinct({"y", y});
  arguments.disjointOrSame({"y", y}, {"ab", ab});
  swigluNamed("swigluHalves", stream, a, b, y, loc);
}
Tensor swigluHalves(const Stream &stream, const Operand &ab, Loc loc) {
  Arguments arguments("swigluHalves", {stream, loc});
  Tensor y = newLike(arguments, {"ab", halvesOf(arguments, {"ab", ab}).a}, ab.dtype());
  swigluHalves(stream, ab, y, loc);
  return y;
}
void swigluHalvesBackward(const Stream &stream, const Operand &ab, const Operand &dy,
                          const Operand &dab, Loc loc) {
  Arguments arguments("swigluHalvesBackward", {stream, loc});
  arguments.sameExtents({"dab", dab}, {"ab", ab});
  auto [a, b] = halvesOf(arguments, {"ab", ab});
  auto [da, db] = halvesOf(arguments, {"dab", dab});
  checkFloats(arguments, {{"ab", ab}, {"dy", dy}, {"dab", dab}});
  arguments.broadcastsTo({"dy", dy}, {"a half of ab", a}); // and of dab
  arguments.accessible({{"ab", ab}, {"dy", dy}, {"dab", dab}});
  arguments.elementsDistinct({"dab", dab});
  arguments.disjoint({"dab", dab}, {"dy", dy});
  arguments.disjointOrSame({"dab", dab}, {"ab", ab});
  swigluBackwardNamed("swigluHalvesBackward", stream, a, b, dy, da, db, loc);
}
Tensor swigluHalvesBackward(const Stream &stream, const Operand &ab, const Operand &dy, Loc loc) {
  Tensor dab = newLike(Arguments("swigluHalvesBackward", {stream, loc}), {"ab", ab}, ab.dtype());
  swigluHalvesBackward(stream, ab, dy, dab, loc);
  return dab;
}

} // namespace tile::ops
