// Float instructions and conversions against the host's arithmetic and against rounding written out step by step.
#include "tests/runtime/vgpu/Lanewise.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

namespace tile::vgpu {
namespace {

float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t asBits(float value) { return std::bit_cast<uint32_t>(value); }

std::vector<float> floatEdges() {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               1.0f,
                               -1.0f,
                               0.5f,
                               1.5f,
                               2.5f,
                               -2.5f,
                               3.0f,
                               0.1f,
                               1e-3f,
                               1e10f,
                               -1e10f,
                               65504.0f,
                               65519.9f,
                               65520.0f,
                               2147483520.0f,
                               2147483648.0f,
                               -2147483648.0f,
                               4294967296.0f,
                               1e20f,
                               3.4028235e38f,
                               -3.4028235e38f,
                               1e-38f,
                               1e-40f,
                               -1e-45f,
                               1.1754944e-38f,
                               INFINITY,
                               -INFINITY,
                               NAN,
                               asFloat(0xffc12345),
                               asFloat(0x3f800001),
                               asFloat(0x33000000),
                               asFloat(0x33000001),
                               0x1p126f,
                               0x1.8p126f};
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i)
    values.push_back(asFloat(random()));
  return values;
}

// f32 NaN results have one pattern.
uint32_t canonicalBits(float value) { return std::isnan(value) ? 0x7fffffffu : asBits(value); }
float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

template <class Reference> void checkBinary(const std::string &instruction, Reference reference) {
  auto [x, y] = allPairs(floatEdges());
  auto result = applyPtx<float>(instruction + " %d, %x, %y;", x, y);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(asBits(result[i]), canonicalBits(reference(x[i], y[i])))
        << instruction << " " << x[i] << ", " << y[i];
}

template <class Reference> void checkUnary(const std::string &instruction, Reference reference) {
  auto x = floatEdges();
  auto result = applyPtx<float>(instruction + " %d, %x;", x);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(asBits(result[i]), canonicalBits(reference(x[i]))) << instruction << " " << x[i];
}

TEST(Float, NearestArithmetic) {
  checkBinary("add.rn.f32", [](float a, float b) { return a + b; });
  checkBinary("sub.f32", [](float a, float b) { return a - b; });
  checkBinary("mul.rn.f32", [](float a, float b) { return a * b; });
  checkBinary("div.rn.f32", [](float a, float b) { return a / b; });
  checkUnary("sqrt.rn.f32", [](float a) { return std::sqrt(a); });
  checkUnary("rcp.rn.f32", [](float a) { return 1.0f / a; });
  checkBinary("add.ftz.f32", [](float a, float b) { return flushed(flushed(a) + flushed(b)); });
  checkBinary("mul.rn.ftz.f32", [](float a, float b) { return flushed(flushed(a) * flushed(b)); });
  checkBinary("add.sat.f32", [](float a, float b) {
    return std::isnan(a + b) ? 0.0f : std::fmin(std::fmax(a + b, 0.0f), 1.0f) + 0.0f;
  });
}

TEST(Float, FusedMultiplyAddRoundsOnce) {
  auto [x, y] = allPairs(floatEdges());
  std::vector<float> z(x.size());
  for (size_t i = 0; i < z.size(); ++i)
    z[i] = floatEdges()[i * 31 % floatEdges().size()];
  auto result = applyPtx<float>("fma.rn.f32 %d, %x, %y, %z;", x, y, z);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(asBits(result[i]), canonicalBits(std::fma(x[i], y[i], z[i])));
}

// The exact sum or product is between the results of rounding down and up, which differ only if it is inexact.
TEST(Float, DirectedRoundings) {
  auto [x, y] = allPairs(floatEdges());
  for (std::string operation : {"add", "mul"}) {
    auto down = applyPtx<float>(operation + ".rm.f32 %d, %x, %y;", x, y),
         up = applyPtx<float>(operation + ".rp.f32 %d, %x, %y;", x, y),
         zero = applyPtx<float>(operation + ".rz.f32 %d, %x, %y;", x, y),
         nearest = applyPtx<float>(operation + ".rn.f32 %d, %x, %y;", x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(nearest[i])) {
        EXPECT_TRUE(std::isnan(down[i]) && std::isnan(up[i]) && std::isnan(zero[i]));
        continue;
      }
      EXPECT_LE(down[i], nearest[i]);
      EXPECT_GE(up[i], nearest[i]);
      EXPECT_TRUE(up[i] == down[i] || up[i] == std::nextafter(down[i], INFINITY));
      EXPECT_EQ(zero[i], std::signbit(nearest[i]) && nearest[i] != 0 ? up[i]
                         : nearest[i] == 0 && up[i] != down[i]       ? 0.0f
                         : std::signbit(down[i]) && down[i] != 0     ? up[i]
                                                                     : down[i]);
    }
  }
}

TEST(Float, MinimumAndMaximum) {
  auto minimum = [](float a, float b) {
    if (std::isnan(a))
      return b;
    if (std::isnan(b))
      return a;
    return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
  };
  checkBinary("min.f32", minimum);
  checkBinary("max.f32", [&](float a, float b) { return -minimum(-a, -b); });
  checkBinary("min.NaN.f32", [&](float a, float b) {
    return std::isnan(a) || std::isnan(b) ? NAN : minimum(a, b);
  });
}

TEST(Float, SignsAreBits) {
  auto x = floatEdges();
  auto negated = applyPtx<float>("neg.f32 %d, %x;", x),
       absolute = applyPtx<float>("abs.f32 %d, %x;", x);
  for (size_t i = 0; i < x.size(); ++i) {
    bool isNan = std::isnan(x[i]);
    EXPECT_EQ(asBits(negated[i]), isNan ? 0x7fffffff : asBits(x[i]) ^ 0x80000000u);
    EXPECT_EQ(asBits(absolute[i]), isNan ? 0x7fffffff : asBits(x[i]) & 0x7fffffffu);
  }
}

TEST(Float, ApproximationsStayWithinTheirBounds) {
  std::vector<float> x;
  for (int i = -2000; i <= 2000; ++i)
    x.push_back(static_cast<float>(i) * 0.0031f);
  auto check = [&](const std::string &instruction, auto reference, double absolute,
                   double relative) {
    auto result = applyPtx<float>(instruction + " %d, %x;", x);
    for (size_t i = 0; i < x.size(); ++i) {
      double expected = reference(static_cast<double>(x[i]));
      if (std::isfinite(expected))
        EXPECT_NEAR(result[i], expected, absolute + relative * std::fabs(expected))
            << instruction << " " << x[i];
    }
  };
  check(
      "ex2.approx.f32", [](double a) { return std::exp2(a); }, 0, 0x1p-22);
  check(
      "lg2.approx.f32", [](double a) { return std::log2(a); }, 0x1p-22, 0x1p-22);
  check(
      "sin.approx.f32", [](double a) { return std::sin(a); }, 0x1p-20, 0);
  check(
      "cos.approx.f32", [](double a) { return std::cos(a); }, 0x1p-20, 0);
  check(
      "tanh.approx.f32", [](double a) { return std::tanh(a); }, 0, 0x1p-11);
  check(
      "rsqrt.approx.f32", [](double a) { return 1 / std::sqrt(a); }, 0, 0x1p-22);
  check(
      "rcp.approx.f32", [](double a) { return 1 / a; }, 0, 0x1p-23);
}

TEST(Float, Comparisons) {
  auto [x, y] = allPairs(floatEdges());
  auto check = [&](const std::string &relation, auto reference) {
    auto result = applyPtx<uint32_t, float>(
        "setp." + relation + ".f32 %p, %x, %y; selp.u32 %d, 1, 0, %p;", x, y);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(result[i], uint32_t{reference(x[i], y[i])})
          << relation << " " << x[i] << ", " << y[i];
  };
  auto unordered = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
  check("eq", [](float a, float b) { return a == b; });
  check("ne", [&](float a, float b) { return !unordered(a, b) && a != b; });
  check("lt", [](float a, float b) { return a < b; });
  check("ge", [](float a, float b) { return a >= b; });
  check("equ", [&](float a, float b) { return unordered(a, b) || a == b; });
  check("neu", [](float a, float b) { return a != b; });
  check("ltu", [&](float a, float b) { return unordered(a, b) || a < b; });
  check("geu", [&](float a, float b) { return unordered(a, b) || a >= b; });
  check("num", [&](float a, float b) { return !unordered(a, b); });
  check("nan", [&](float a, float b) { return unordered(a, b); });
}

// The nearest value of a narrow format, found by search among all of them: independent of any bit manipulation.
class NarrowReference {
public:
  NarrowReference(unsigned bits, FloatFormat format) {
    for (uint32_t code = 0; code < 1u << (bits - 1); ++code) {
      double value = decodeFloat(code, format);
      if (std::isfinite(value))
        values_.push_back(value);
    }
  }
  /// The code of the nearest positive value, ties to the even code; values_.size() if it overflows.
  uint32_t nearest(double value) const {
    auto above = std::lower_bound(values_.begin(), values_.end(), value);
    auto high = static_cast<uint32_t>(above - values_.begin());
    if (high == 0)
      return 0;
    double top =
        high < values_.size() ? values_[high] : 2 * values_.back() - values_[values_.size() - 2];
    double toLow = value - values_[high - 1], toHigh = top - value;
    return toLow < toHigh || (toLow == toHigh && (high - 1) % 2 == 0) ? high - 1 : high;
  }

private:
  std::vector<double> values_;
};

std::vector<uint16_t> allCodes() {
  std::vector<uint16_t> codes(65536);
  for (uint32_t i = 0; i < 65536; ++i)
    codes[i] = static_cast<uint16_t>(i);
  return codes;
}

// Independent decoding of f16: the definition, in double.
double halfValue(uint16_t code) {
  int exponent = code >> 10 & 31, mantissa = code & 1023;
  double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                               : std::ldexp(mantissa, -24);
  return code & 0x8000 ? -size : size;
}

TEST(Convert, AllHalvesToFloat) {
  auto codes = allCodes();
  auto half = applyPtx<float, uint16_t>("cvt.f32.f16 %d, %x;", codes),
       bfloat = applyPtx<float, uint16_t>("cvt.f32.bf16 %d, %x;", codes);
  for (uint32_t code = 0; code < 65536; ++code) {
    EXPECT_EQ(asBits(half[code]),
              canonicalBits(static_cast<float>(halfValue(static_cast<uint16_t>(code)))))
        << code;
    EXPECT_EQ(asBits(bfloat[code]), code << 16) << code; // NaN too
  }
}

TEST(Convert, FloatToHalvesRoundsToNearestEven) {
  std::vector<float> x = floatEdges();
  // Every half, the midpoints between neighbours, and just beside them.
  for (uint32_t code = 0; code < 0x7c00; ++code) {
    float low = static_cast<float>(halfValue(static_cast<uint16_t>(code))),
          middle = low / 2 + static_cast<float>(halfValue(static_cast<uint16_t>(code + 1))) / 2;
    if (code == 0x7bff)
      middle = 65520.0f;
    for (float value :
         {low, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY)})
      x.push_back(code % 2 ? value : -value);
  }
  auto half = applyPtx<uint16_t, float>("cvt.rn.f16.f32 %d, %x;", x),
       bfloat = applyPtx<uint16_t, float>("cvt.rn.bf16.f32 %d, %x;", x);
  NarrowReference halves(16, kHalfFormat), bfloats(16, kBfloatFormat);
  for (size_t i = 0; i < x.size(); ++i) {
    uint16_t sign = std::signbit(x[i]) ? 0x8000 : 0;
    uint32_t expectedHalf = std::isinf(x[i]) ? 0x7c00 : halves.nearest(std::fabs(x[i])),
             expectedBfloat = std::isinf(x[i]) ? 0x7f80 : bfloats.nearest(std::fabs(x[i]));
    EXPECT_EQ(half[i], std::isnan(x[i]) ? 0x7fff : sign | expectedHalf) << x[i];
    EXPECT_EQ(bfloat[i], std::isnan(x[i]) ? 0x7fff : sign | expectedBfloat) << x[i];
  }
}

TEST(Convert, PackedHalvesPutTheFirstOperandHigh) {
  auto [x, y] = allPairs(floatEdges());
  auto packed = applyPtx<uint32_t, float>("cvt.rn.f16x2.f32 %d, %x, %y;", x, y);
  auto high = applyPtx<uint16_t, float>("cvt.rn.f16.f32 %d, %x;", x),
       low = applyPtx<uint16_t, float>("cvt.rn.f16.f32 %d, %x;", y);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(packed[i], uint32_t{high[i]} << 16 | low[i]);
}

TEST(Convert, Fp8ExhaustivelyBothWays) {
  std::vector<uint16_t> codes = allCodes();
  for (auto [name, format, infinity] :
       {std::tuple("e4m3x2", kE4m3Format, 0u), std::tuple("e5m2x2", kE5m2Format, 0x7cu)}) {
    // Up: each byte of a pair is exact in f16.
    auto up = applyPtx<uint32_t, uint16_t>(std::string("cvt.rn.f16x2.") + name + " %d, %x;", codes,
                                           {}, {}, "sm_89");
    NarrowReference values(8, format);
    for (uint32_t code = 0; code < 65536; ++code)
      for (int half = 0; half < 2; ++half) {
        double expected = decodeFloat(code >> (8 * half) & 255, format),
               actual = halfValue(static_cast<uint16_t>(up[code] >> (16 * half)));
        EXPECT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected))) << code;
      }
    // Down, saturating: overflow gives the largest finite value.
    auto edges = floatEdges();
    for (int i = 0; i < 4000; ++i)
      edges.push_back(std::ldexp(static_cast<float>(i % 97) / 16, i % 30 - 20));
    auto down = applyPtx<uint16_t, float>(std::string("cvt.rn.satfinite.") + name +
                                              ".f32 %d, 0f00000000, %x;",
                                          edges, {}, {}, "sm_89");
    uint32_t largest = format.hasInfinity ? 0x7b : 0x7e;
    for (size_t i = 0; i < edges.size(); ++i) {
      uint32_t sign = std::signbit(edges[i]) ? 0x80 : 0;
      uint32_t expected =
          std::isnan(edges[i])
              ? 0x7f
              : sign |
                    std::min(std::isinf(edges[i]) ? largest : values.nearest(std::fabs(edges[i])),
                             largest);
      EXPECT_EQ(down[i], expected) << name << " " << edges[i];
    }
  }
}

TEST(Convert, FloatToIntegerSaturates) {
  auto x = floatEdges();
  auto check = [&]<class T>(const std::string &type, T nan) {
    for (auto [mode, round] : {std::pair(
                                   "rzi", +[](double a) { return std::trunc(a); }),
                               std::pair(
                                   "rni", +[](double a) { return std::nearbyint(a); }),
                               std::pair(
                                   "rmi", +[](double a) { return std::floor(a); }),
                               std::pair(
                                   "rpi", +[](double a) { return std::ceil(a); })}) {
      auto result = applyPtx<T, float>(std::string("cvt.") + mode + "." + type + ".f32 %d, %x;", x);
      for (size_t i = 0; i < x.size(); ++i) {
        double value = round(x[i]);
        T expected = std::isnan(x[i]) ? nan
                     : value < static_cast<double>(std::numeric_limits<T>::min())
                         ? std::numeric_limits<T>::min()
                     : value >= static_cast<double>(std::numeric_limits<T>::max())
                         ? std::numeric_limits<T>::max()
                         : static_cast<T>(value);
        EXPECT_EQ(result[i], expected) << mode << " " << type << " " << x[i];
      }
    }
  };
  check.operator()<int32_t>("s32", 0);
  check.operator()<uint32_t>("u32", 0);
  check.operator()<int64_t>("s64", std::numeric_limits<int64_t>::min());
  check.operator()<int16_t>("s16", 0);
}

TEST(Convert, IntegerToFloatRoundsOnce) {
  std::vector<uint64_t> x = {0,
                             1,
                             0x1000001,
                             0x1000002,
                             0x1000003,
                             0xffffffffffffffffull,
                             0x8000000000000000ull,
                             0x8000008000000000ull,
                             0x8000008000000001ull,
                             0x7fffffffffffffffull,
                             0x20000000000001ull,
                             0xfffffffffffffbffull,
                             0xfffffffffffffc00ull};
  auto single = applyPtx<float, uint64_t>("cvt.rn.f32.u64 %d, %x;", x);
  auto singleSigned = applyPtx<float, uint64_t>("cvt.rn.f32.s64 %d, %x;", x);
  auto twice = applyPtx<double, uint64_t>("cvt.rn.f64.u64 %d, %x;", x);
  auto down = applyPtx<double, uint64_t>("cvt.rz.f64.u64 %d, %x;", x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(single[i], static_cast<float>(x[i]));
    EXPECT_EQ(singleSigned[i], static_cast<float>(static_cast<int64_t>(x[i])));
    EXPECT_EQ(twice[i], static_cast<double>(x[i]));
    EXPECT_LE(static_cast<long double>(down[i]), static_cast<long double>(x[i]));
    EXPECT_LT(static_cast<long double>(x[i]) - down[i], 2048.0L);
  }
}

TEST(Convert, IntegerWidths) {
  std::vector<uint32_t> x = {0,      1,      127,     128,        255,        256,       0x7fff,
                             0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
  auto narrow = applyPtx<uint32_t>("cvt.s32.s8 %d, %x;", x),
       unsignedNarrow = applyPtx<uint32_t>("cvt.u32.u16 %d, %x;", x);
  auto saturated = applyPtx<uint32_t>("cvt.sat.s8.s32 %d, %x;", x),
       wide = applyPtx<uint32_t>("cvt.sat.u8.s32 %d, %x;", x);
  auto extended = applyPtx<uint64_t, uint32_t>("cvt.s64.s32 %d, %x;", x);
  for (size_t i = 0; i < x.size(); ++i) {
    auto value = static_cast<int32_t>(x[i]);
    EXPECT_EQ(narrow[i], static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(x[i]))));
    EXPECT_EQ(unsignedNarrow[i], static_cast<uint16_t>(x[i]));
    EXPECT_EQ(static_cast<int8_t>(saturated[i]), std::clamp(value, -128, 127));
    EXPECT_EQ(static_cast<uint8_t>(wide[i]), std::clamp(value, 0, 255));
    EXPECT_EQ(extended[i], static_cast<uint64_t>(int64_t{value}));
  }
}

TEST(Convert, Tf32RoundsAwayFromZeroOnTies) {
  std::vector<float> x = {1.0f,
                          asFloat(0x3f800fff),
                          asFloat(0x3f801000),
                          asFloat(0x3f801001),
                          asFloat(0xbf801000),
                          asFloat(0x3f802fff),
                          INFINITY,
                          NAN};
  auto result = applyPtx<uint32_t, float>("cvt.rna.tf32.f32 %d, %x;", x);
  EXPECT_EQ(result, (std::vector<uint32_t>{0x3f800000, 0x3f800000, 0x3f802000, 0x3f802000,
                                           0xbf802000, 0x3f802000, 0x7f800000, 0x7fc00000}));
}

// f16 sums and products of all edge pairs, rounded once from the exact double.
TEST(Half, ArithmeticRoundsOnce) {
  std::vector<uint16_t> edges = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00,
                                 0xbc00, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00,
                                 0x3555, 0x2e66, 0x5640, 0x1234, 0x4bff};
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i)
    edges.push_back(static_cast<uint16_t>(random()));
  auto [x, y] = allPairs(edges);
  auto sum = applyPtx<uint16_t>("add.rn.f16 %d, %x, %y;", x, y),
       product = applyPtx<uint16_t>("mul.rn.f16 %d, %x, %y;", x, y);
  NarrowReference halves(16, kHalfFormat);
  auto encode = [&](double value) -> uint16_t {
    if (std::isnan(value))
      return 0x7fff;
    uint32_t code = std::isinf(value) ? 0x7c00 : halves.nearest(std::fabs(value));
    return static_cast<uint16_t>(code | (std::signbit(value) ? 0x8000 : 0));
  };
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(sum[i], encode(halfValue(x[i]) + halfValue(y[i]))) << x[i] << " " << y[i];
    EXPECT_EQ(product[i], encode(halfValue(x[i]) * halfValue(y[i]))) << x[i] << " " << y[i];
  }
  // All of a, b, c are exact in long double, which has the digits for the products and sums of halves.
  std::vector<uint16_t> z(x.size());
  for (size_t i = 0; i < z.size(); ++i)
    z[i] = edges[i * 17 % edges.size()];
  auto fused = applyPtx<uint16_t>("fma.rn.f16 %d, %x, %y, %z;", x, y, z);
  for (size_t i = 0; i < x.size(); ++i) {
    double exact = static_cast<double>(static_cast<long double>(halfValue(x[i])) * halfValue(y[i]) +
                                       halfValue(z[i]));
    EXPECT_EQ(fused[i], encode(exact)) << x[i] << " " << y[i] << " " << z[i];
  }
}

// A tie that a far smaller addend breaks: two roundings would miss it.
// Products of all small exponents: where they underflow to zero in f32 as well, the sign of zero is all that is left.
TEST(Half, FmaOfProductsThatUnderflow) {
  std::vector<uint16_t> x, y, zeros;
  for (unsigned exponent = 0; exponent < 0x100; exponent += 3)
    for (unsigned sign : {0u, 0x8000u})
      for (unsigned digits : {0u, 1u, 0x7fu}) {
        x.push_back(static_cast<uint16_t>(sign | exponent << 7 | digits));
        y.push_back(static_cast<uint16_t>(0x0080 | digits));
        zeros.push_back(static_cast<uint16_t>(sign));
      }
  auto results = applyPtx<uint16_t>("fma.rn.bf16 %d, %x, %y, %z;", x, y, zeros);
  for (size_t i = 0; i < x.size(); ++i) {
    double exact = double{bfloatToFloat(x[i])} * double{bfloatToFloat(y[i])};
    ASSERT_EQ(results[i], encodeFloat(exact, kBfloatFormat, Rounding::NearestEven))
        << x[i] << " * " << y[i];
  }
}

TEST(Half, BfloatFmaSeesTheSmallestAddend) {
  std::vector<uint16_t> x = {0x3f81}, y = {0x3f82}, z = {0x0100};
  uint16_t expected = 0;
  long double exact =
      static_cast<long double>(asFloat(0x3f810000)) * asFloat(0x3f820000) + asFloat(0x01000000);
  double nearest = INFINITY;
  for (uint32_t code = 0x3f00; code < 0x4000; ++code)
    if (auto distance = std::fabs(static_cast<double>(exact - asFloat(code << 16)));
        distance < nearest) {
      nearest = distance;
      expected = static_cast<uint16_t>(code);
    }
  EXPECT_EQ(applyPtx<uint16_t>("fma.rn.bf16 %d, %x, %y, %z;", x, y, z)[0], expected);
  // (1 + 2^-4)^2 lies in the middle of two bf16 numbers.
  std::vector<uint16_t> a = {0x3f88}, b = {0x3f88}, tiny = {0x0080}, minusTiny = {0x8080};
  uint16_t above = applyPtx<uint16_t>("fma.rn.bf16 %d, %x, %y, %z;", a, b, tiny)[0];
  uint16_t below = applyPtx<uint16_t>("fma.rn.bf16 %d, %x, %y, %z;", a, b, minusTiny)[0];
  float product = asFloat(0x3f880000) * asFloat(0x3f880000);
  uint32_t bits = asBits(product);
  ASSERT_EQ(bits & 0xffff, 0x8000u) << "the product must lie in the middle of two bf16 numbers";
  EXPECT_EQ(above, (bits >> 16) + 1);
  EXPECT_EQ(below, bits >> 16);
}

TEST(Half, PackedEqualsScalar) {
  std::vector<uint32_t> x = {0x3c003c00, 0x7bff8001, 0xfc007c00, 0x12344321},
                        y = {0x40003800, 0x7bff0001, 0x7c007c00, 0xabcdef01};
  auto packed = applyPtx<uint32_t>("mul.f16x2 %d, %x, %y;", x, y);
  for (int half = 0; half < 2; ++half) {
    std::vector<uint16_t> a, b;
    for (size_t i = 0; i < x.size(); ++i)
      a.push_back(static_cast<uint16_t>(x[i] >> (16 * half))),
          b.push_back(static_cast<uint16_t>(y[i] >> (16 * half)));
    auto scalar = applyPtx<uint16_t>("mul.f16 %d, %x, %y;", a, b);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(static_cast<uint16_t>(packed[i] >> (16 * half)), scalar[i]);
  }
}

} // namespace
} // namespace tile::vgpu
