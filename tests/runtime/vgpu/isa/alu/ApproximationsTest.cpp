// Approximate functions against the rules that hardware's follow, where one is known.
#include "tests/runtime/vgpu/Lanewise.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <cmath>
#include <numbers>

namespace tile::vgpu {
namespace {

float asFloat(uint32_t bits) { return std::bit_cast<float>(bits); }

// x in turns: the exact product cut to 24 digits, and to multiples of 2^-25. Its fraction.
long double fractionOfTurn(float x) {
  long double turns = static_cast<long double>(std::fabs(x)) * 0.15915494f;
  long double unit = turns == 0 ? 1 : std::exp2(std::max(std::ilogb(turns) - 23.0L, -25.0L));
  turns = std::floor(turns / unit) * unit;
  return turns - std::floor(turns);
}

std::vector<float> angles() {
  std::vector<float> x;
  for (int i = -4000; i <= 4000; ++i)
    x.push_back(static_cast<float>(i) * 0.0517f);
  for (float size = 1e-9f; size < 1e30f; size *= 1.7f)
    x.insert(x.end(), {size, -size});
  return x;
}

TEST(Approximations, SineAndCosineAreOfTurnsCutOff) {
  auto x = angles();
  auto sine = applyPtx<float>("sin.approx.f32 %d, %x;", x),
       cosine = applyPtx<float>("cos.approx.f32 %d, %x;", x);
  constexpr long double kTurn = 2 * std::numbers::pi_v<long double>;
  for (size_t i = 0; i < x.size(); ++i) {
    long double angle = kTurn * fractionOfTurn(x[i]);
    EXPECT_NEAR(sine[i], std::copysign(1.0L, x[i]) * std::sin(angle), 0x1p-24) << x[i];
    EXPECT_NEAR(cosine[i], std::cos(angle), 0x1p-24) << x[i];
  }
}

// Whole, half and quarter turns have exact results, of which zeros have the sign of their quadrant; x = t * 2pi, rounded.
TEST(Approximations, SineAndCosineOfPartsOfATurn) {
  std::vector<float> x = {0.0f,    -0.0f,   asFloat(0x4b000001), asFloat(0xcb000001), 1e20f, -1e20f,
                          1.8e-7f, -1.8e-7f},
                     expected = {0.0f, -0.0f, -0.0f, 0.0f, 0.0f, -0.0f, 0.0f, -0.0f};
  auto sine = applyPtx<float>("sin.approx.f32 %d, %x;", x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(sine[i], expected[i]) << x[i];
    EXPECT_EQ(std::signbit(sine[i]), std::signbit(expected[i])) << x[i];
  }
  auto cosine = applyPtx<float>("cos.approx.f32 %d, %x;",
                                std::vector<float>{0.0f, asFloat(0x4b000001), 1e20f, -1e20f,
                                                   asFloat(0xcb84c8fc), asFloat(0xcb1ab52f)});
  EXPECT_EQ(cosine, (std::vector<float>{1.0f, -1.0f, 1.0f, 1.0f, 0.0f, 0.0f}));
  EXPECT_TRUE(std::signbit(cosine[4]) && std::signbit(cosine[5])); // after a quarter turn
  auto none = applyPtx<uint32_t, float>("sin.approx.f32 %d, %x;", {INFINITY, -INFINITY, NAN});
  EXPECT_EQ(none, std::vector<uint32_t>(3, 0x7fffffff));
  none = applyPtx<uint32_t, float>("cos.approx.f32 %d, %x;", {INFINITY, -INFINITY, NAN});
  EXPECT_EQ(none, std::vector<uint32_t>(3, 0x7fffffff));
}

// What an H100 gave lies as near as its tables allow: 2^-21.48.
TEST(Approximations, SineAndCosineAreNearThoseOfAGpu) {
  struct Row {
    uint32_t x, sine;
  };
  for (Row row : {Row{0xbbbbaa50, 0xbbbba9b7},
                  {0xc3d3ec53, 0xbe87f722},
                  {0xb4c6667c, 0xb4491200},
                  {0xcf91c533, 0x80000000}}) {
    auto result = applyPtx<float>("sin.approx.f32 %d, %x;", std::vector<float>{asFloat(row.x)});
    EXPECT_NEAR(result[0], asFloat(row.sine), std::exp2(-21.48)) << std::hex << row.x;
  }
  for (Row row :
       {Row{0x4f800000, 0x3f800000}, {0x3ebe9add, 0x3f6e76ec}, {0x3fe4006a, 0xbe55ee08}}) {
    auto result = applyPtx<float>("cos.approx.f32 %d, %x;", std::vector<float>{asFloat(row.x)});
    EXPECT_NEAR(result[0], asFloat(row.sine), std::exp2(-21.48)) << std::hex << row.x;
  }
}

std::vector<uint16_t> allCodes() {
  std::vector<uint16_t> codes(65536);
  for (uint32_t i = 0; i < 65536; ++i)
    codes[i] = static_cast<uint16_t>(i);
  return codes;
}

// 2^x cut off, by the definition. A size below 2^-23 counts as zero.
uint16_t powerCutOff(double x, FloatFormat format) {
  uint32_t infinity = ((1u << format.exponentBits) - 1) << format.mantissaBits;
  if (std::isnan(x))
    return 0x7fff;
  long double power = std::exp2(std::fabs(x) < 0x1p-23 ? 0.0L : static_cast<long double>(x)),
              limit = std::exp2(static_cast<long double>(1 << (format.exponentBits - 1)));
  if (power >= limit)
    return static_cast<uint16_t>(infinity);
  // Cutting to the double below first keeps what is cut off next.
  auto below = static_cast<double>(power);
  if (below > power)
    below = std::nextafter(below, 0.0);
  return static_cast<uint16_t>(encodeFloat(below, format, Rounding::Zero));
}

TEST(Approximations, PowersOfTwoInHalvesAreCutOff) {
  auto codes = allCodes();
  auto half = applyPtx<uint16_t>("ex2.approx.f16 %d, %x;", codes),
       bfloat = applyPtx<uint16_t>("ex2.approx.ftz.bf16 %d, %x;", codes, {}, {}, "sm_90");
  for (uint32_t code = 0; code < 65536; ++code) {
    auto bits = static_cast<uint16_t>(code);
    ASSERT_EQ(half[code], powerCutOff(halfToFloat(bits), kHalfFormat)) << std::hex << code;
    uint16_t expected = powerCutOff(bfloatToFloat(bits), kBfloatFormat);
    ASSERT_EQ(bfloat[code], expected < 0x0080 ? 0 : expected) << std::hex << code;
  }
  auto pair = applyPtx<uint32_t>("ex2.approx.f16x2 %d, %x;", std::vector<uint32_t>{0x80013c00});
  EXPECT_EQ(pair[0], 0x3c004000u);
}

} // namespace
} // namespace tile::vgpu
