// Where numbers end near zero: `.ftz` of what rounds up to the least normal number, `.relu` of zeros, and zeros as normal.
#include "tests/runtime/vgpu/Lanewise.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <cmath>
#include <random>

namespace tile::vgpu {
namespace {

// How a size below `least`, an exact one, comes out if it is rounded to `digits` digits as if there were no least exponent:
// `least`, or flushed. `Half` says whether the rounding is to nearest; otherwise it is away from zero or not.
enum class To { Nearest, Away, Zero };
bool isRoundedUp(long double size, long double least, int digits, To to) {
  long double unit = std::ldexp(least, -digits);
  return size >= least || (to == To::Away && size > least - unit) ||
         (to == To::Nearest && size >= least - unit / 2);
}

struct Direction {
  const char *name;
  To ofPositive, ofNegative;
};
constexpr Direction kDirections[] = {{"rn", To::Nearest, To::Nearest},
                                     {"rz", To::Zero, To::Zero},
                                     {"rm", To::Zero, To::Away},
                                     {"rp", To::Away, To::Zero}};

// Expects that each result is the least normal number, or zero of the exact value's sign, where that is just below it.
void expectFlushed(const std::string &code, const Direction &direction,
                   const std::vector<float> &results, const std::vector<long double> &exact) {
  constexpr long double kLeast = 0x1p-126L;
  size_t flushed = 0, kept = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    long double size = std::fabs(exact[i]);
    if (size >= kLeast || size < kLeast * (1 - 0x1p-22L))
      continue;
    To to = exact[i] < 0 ? direction.ofNegative : direction.ofPositive;
    bool up = isRoundedUp(size, kLeast, 24, to);
    (up ? kept : flushed)++;
    EXPECT_EQ(
        std::bit_cast<uint32_t>(results[i]),
        std::bit_cast<uint32_t>(std::copysign(up ? 0x1p-126f : 0.0f, static_cast<float>(exact[i]))))
        << code << std::hexfloat << " " << exact[i];
  }
  EXPECT_GT(flushed, 50u) << code;
  if (code.substr(0, 3) != "div" && direction.ofPositive != To::Zero)
    EXPECT_GT(kept, 10u) << code;
}

// Pairs whose product is about 2^-126: the nearest to it, and those of one unit less.
void fillFactors(std::vector<float> &x, std::vector<float> &y) {
  std::mt19937 random(5);
  while (x.size() < 20000) {
    float factor = std::ldexp(1.0f + static_cast<float>(random() & 0x7fffff) * 0x1p-23f, -63);
    float other = static_cast<float>(0x1p-126L / factor);
    x.push_back(random() & 1 ? factor : -factor);
    y.push_back(random() & 1 ? other : std::nextafter(other, 0.0f));
  }
  x.push_back(std::nextafter(0x1p-63f, 0.0f)), y.push_back(0x1p-63f);
}

TEST(Flush, ProductsRoundedUpToTheLeastNormalNumber) {
  std::vector<float> x, y;
  fillFactors(x, y);
  std::vector<long double> exact;
  for (size_t i = 0; i < x.size(); ++i)
    exact.push_back(static_cast<long double>(x[i]) * y[i]);
  for (const Direction &direction : kDirections) {
    std::string code = std::string("mul.") + direction.name + ".ftz.f32 %d, %x, %y;";
    expectFlushed(code, direction, applyPtx<float>(code, x, y), exact);
  }
}

TEST(Flush, FusedProductsRoundedUpToTheLeastNormalNumber) {
  std::vector<float> x, y;
  fillFactors(x, y);
  // The addend turns the product's 2^-126 into 2^-125 and back, exactly in long double.
  for (float addend : {0.0f, 0x1p-126f}) {
    std::vector<long double> exact;
    std::vector<float> z, factors = y;
    for (size_t i = 0; i < x.size(); ++i) {
      factors[i] *= addend == 0 ? 1 : 2;
      z.push_back(std::copysign(addend, -x[i]));
      exact.push_back(static_cast<long double>(x[i]) * factors[i] + z[i]);
    }
    for (const Direction &direction : kDirections) {
      std::string code = std::string("fma.") + direction.name + ".ftz.f32 %d, %x, %y, %z;";
      expectFlushed(code, direction, applyPtx<float>(code, x, factors, z), exact);
    }
  }
}

TEST(Flush, QuotientsBelowTheLeastNormalNumberAreZero) {
  std::mt19937 random(6);
  std::vector<float> x, y;
  std::vector<long double> exact;
  for (int i = 0; i < 4000; ++i) {
    float divisor = std::ldexp(1.0f + static_cast<float>(random() & 0x7fffff) * 0x1p-23f, 50);
    x.push_back(std::nextafter(std::ldexp(divisor, -126), 0.0f));
    y.push_back(random() & 1 ? divisor : -divisor);
    exact.push_back(static_cast<long double>(x.back()) / y.back());
  }
  for (const Direction &direction : kDirections) {
    std::string code = std::string("div.") + direction.name + ".ftz.f32 %d, %x, %y;";
    expectFlushed(code, direction, applyPtx<float>(code, x, y), exact);
  }
}

// The operands overflow where they are scaled, which must not matter.
TEST(Flush, GreatOperandsAreNotTakenForTinyResults) {
  std::vector<float> x = {0x1.8p127f, 0x1.8p127f, -0x1p120f, 0x1p127f, INFINITY, 0.0f, 1.0f},
                     y = {0x1p-126f, 0.0f, 0x1p-20f, 0x1p-126f, 0x1p-126f, INFINITY, INFINITY},
                     z = {-3.0f, 0x1p-126f, 0x1p100f, -0x1.fffffep0f, 1.0f, 1.0f, 1.0f};
  auto fused = applyPtx<float>("fma.rn.ftz.f32 %d, %x, %y, %z;", x, y, z),
       product = applyPtx<float>("mul.rn.ftz.f32 %d, %x, %y;", x, y),
       quotient = applyPtx<float>("div.rn.ftz.f32 %d, %x, %y;", x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    auto expectEqual = [&](float result, float expected) {
      EXPECT_TRUE(result == expected || (std::isnan(result) && std::isnan(expected)))
          << i << ": " << result << ", not " << expected;
    };
    expectEqual(fused[i], std::fma(x[i], y[i], z[i]));
    expectEqual(product[i], x[i] * y[i]);
    expectEqual(quotient[i], x[i] / y[i]);
  }
}

TEST(Flush, HalvesRoundedUpToTheLeastNormalNumber) {
  std::vector<uint16_t> x, y, z;
  for (uint32_t a = 0x0400; a < 0x7c00; a += 7)
    for (uint32_t step = 0; step < 3; ++step) {
      double other = 0x1p-14 / halfToFloat(static_cast<uint16_t>(a));
      x.push_back(static_cast<uint16_t>(a));
      y.push_back(static_cast<uint16_t>(encodeFloat(other, kHalfFormat, Rounding::Zero) - step));
      z.push_back(static_cast<uint16_t>(a % 3 ? 0 : 0x0400));
    }
  x.push_back(0x0400), y.push_back(0x3bff), z.push_back(0);
  auto product = applyPtx<uint16_t>("mul.rn.ftz.f16 %d, %x, %y;", x, y),
       fused = applyPtx<uint16_t>("fma.rn.ftz.f16 %d, %x, %y, %z;", x, y, z);
  size_t zeros = 0, least = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    auto flushed = [](double size) {
      if (size < 0x1p-14)
        return isRoundedUp(size, 0x1p-14L, 11, To::Nearest) ? 0x0400u : 0u;
      return encodeFloat(size, kHalfFormat, Rounding::NearestEven);
    };
    auto operand = [](uint16_t code) { return code < 0x0400 ? 0.0 : double{halfToFloat(code)}; };
    double exact = operand(x[i]) * operand(y[i]);
    ASSERT_EQ(product[i], flushed(exact)) << x[i] << " * " << y[i];
    ASSERT_EQ(fused[i], flushed(exact + operand(z[i]))) << x[i] << " * " << y[i] << " + " << z[i];
    zeros += exact >= 0x1p-14 - 0x1p-25 && product[i] == 0;
    least += exact < 0x1p-14 && product[i] == 0x0400;
  }
  EXPECT_GT(zeros, 10u); // which rounding among subnormals would have made 0x0400
  EXPECT_GT(least, 10u);
}

TEST(Relu, HasNoMinusZero) {
  std::vector<uint32_t> tiny = {0x80000000, 0x80000001, 0xb0000000, 0x00000000};
  for (std::string conversion :
       {"rn.relu.f16.f32", "rn.relu.bf16.f32", "rz.relu.f16.f32", "rn.relu.satfinite.bf16.f32"})
    EXPECT_EQ(
        (applyPtx<uint16_t, uint32_t>("cvt." + conversion + " %d, %x;", tiny, {}, {}, "sm_90")),
        std::vector<uint16_t>(4, 0))
        << conversion;
  for (std::string conversion : {"rn.relu.tf32.f32 %d, %x;", "rz.relu.tf32.f32 %d, %x;",
                                 "rn.relu.f16x2.f32 %d, %x, %x;", "rz.relu.bf16x2.f32 %d, %x, %x;"})
    EXPECT_EQ(applyPtx<uint32_t>("cvt." + conversion, tiny, {}, {}, "sm_90"),
              std::vector<uint32_t>(4, 0))
        << conversion;
  for (std::string format : {"e4m3x2", "e5m2x2"}) {
    std::string narrow = "cvt.rn.satfinite.relu." + format;
    EXPECT_EQ((applyPtx<uint16_t, uint32_t>(narrow + ".f32 %d, %x, %x;", tiny, {}, {}, "sm_90")),
              std::vector<uint16_t>(4, 0));
    EXPECT_EQ(
        (applyPtx<uint16_t, uint32_t>(narrow + ".f16x2 %d, %x;", {0x80008000}, {}, {}, "sm_90")),
        std::vector<uint16_t>(1, 0));
    EXPECT_EQ((applyPtx<uint32_t, uint16_t>("cvt.rn.relu.f16x2." + format + " %d, %x;", {0x8080},
                                            {}, {}, "sm_90")),
              std::vector<uint32_t>(1, 0));
  }
}

TEST(Relu, OfFusedProductsHasNoMinusZero) {
  // -0, a product below the least subnormal number, and a negative one; NaN stays.
  std::vector<uint16_t> x = {0x8000, 0x8001, 0xbc00, 0x7e00}, y = {0x3c00, 0x0001, 0x3c00, 0x3c00},
                        z = {0x8000, 0x8000, 0x0000, 0x0000}, expected = {0, 0, 0, 0x7fff};
  for (std::string form : {"rn.relu.f16", "rn.ftz.relu.f16", "rn.relu.bf16"}) {
    x[3] = form.ends_with("bf16") ? 0x7fc0 : 0x7e00;
    EXPECT_EQ(applyPtx<uint16_t>("fma." + form + " %d, %x, %y, %z;", x, y, z), expected) << form;
  }
  std::vector<uint32_t> pair = {0x80008001}, ones = {0x3c000001}, zeros = {0x80008000};
  for (std::string form : {"rn.relu.f16x2", "rn.ftz.relu.f16x2", "rn.relu.bf16x2"})
    EXPECT_EQ(applyPtx<uint32_t>("fma." + form + " %d, %x, %y, %z;", pair, ones, zeros),
              std::vector<uint32_t>(1, 0))
        << form;
}

TEST(Testp, ZerosAreNormal) {
  std::string code = "testp.normal.f32 %p, %x; selp.b32 %d, 1, 0, %p;";
  EXPECT_EQ(applyPtx<uint32_t>(
                code, std::vector<uint32_t>{0, 0x80000000, 1, 0x00800000, 0x7f800000, 0x7fc00000}),
            (std::vector<uint32_t>{1, 1, 0, 1, 0, 0}));
  code = "testp.normal.f64 %p, %x; selp.b64 %d, 1, 0, %p;";
  EXPECT_EQ(applyPtx<uint64_t>(code, std::vector<uint64_t>{0, uint64_t{1} << 63, 1,
                                                           uint64_t{1} << 52, 0x7ff0000000000000}),
            (std::vector<uint64_t>{1, 1, 0, 1, 0}));
}

} // namespace
} // namespace tile::vgpu
