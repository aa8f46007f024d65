// Rarer suffixes of float instructions: .xorsign.abs, flushed signs, rough doubles, .relu, packed comparisons and integers;
// and combinations PTX does not have.
#include "tests/runtime/vgpu/Lanewise.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <cmath>

namespace tile::vgpu {
namespace {

std::vector<uint16_t> allHalves() {
  std::vector<uint16_t> values(1 << 16);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint16_t>(i);
  return values;
}

// The pseudocode of the ISA text. `sign`: the signs of a and b differ, those of NaNs among them.
double extreme(double a, double b, bool sign, bool isMax, bool nan) {
  a = std::fabs(a), b = std::fabs(b);
  if (std::isnan(a) && std::isnan(b))
    return NAN;
  if (nan && (std::isnan(a) || std::isnan(b)))
    return NAN;
  double result = std::isnan(a) ? b : std::isnan(b) ? a : isMax == (a > b) ? a : b;
  return sign ? -result : result;
}

void checkXorSign(const std::string &type, FloatFormat format) {
  std::vector<uint16_t> x, y;
  const uint16_t others[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001,
                             0x7c00, 0xff80, 0x7fff, 0xc2a0};
  for (uint16_t value : allHalves())
    if (value % 7 == 0 || (value & 0x7fff) > 0x7b00)
      for (uint16_t other : others)
        x.push_back(value), y.push_back(other);
  for (bool isMax : {false, true})
    for (bool nan : {false, true}) {
      auto result = applyPtx<uint16_t>((isMax ? "max" : "min") + std::string(nan ? ".NaN" : "") +
                                           ".xorsign.abs." + type + " %d, %x, %y;",
                                       x, y, {}, "sm_86");
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(result[i],
                  encodeFloat(extreme(decodeFloat(x[i], format), decodeFloat(y[i], format),
                                      (x[i] ^ y[i]) >> 15, isMax, nan),
                              format, Rounding::NearestEven))
            << type << isMax << nan << " " << x[i] << ", " << y[i];
    }
}

TEST(FloatForms, XorSign) {
  checkXorSign("f16", kHalfFormat);
  checkXorSign("bf16", kBfloatFormat);
  auto [x, y] =
      allPairs(std::vector<float>{0.0f, -0.0f, 1.5f, -2.5f, INFINITY, -1e-40f, NAN, 3e38f});
  auto least = applyPtx<float>("min.xorsign.abs.f32 %d, %x, %y;", x, y, {}, "sm_86");
  auto most = applyPtx<float>("max.NaN.xorsign.abs.f32 %d, %x, %y;", x, y, {}, "sm_86");
  for (size_t i = 0; i < x.size(); ++i) {
    auto expectSame = [&](float got, double expected) {
      EXPECT_EQ(std::isnan(got), std::isnan(expected)) << x[i] << ", " << y[i];
      if (!std::isnan(got))
        EXPECT_EQ(std::bit_cast<uint32_t>(got),
                  std::bit_cast<uint32_t>(static_cast<float>(expected)))
            << x[i] << ", " << y[i];
    };
    expectSame(least[i],
               extreme(x[i], y[i], std::signbit(x[i]) != std::signbit(y[i]), false, false));
    expectSame(most[i], extreme(x[i], y[i], std::signbit(x[i]) != std::signbit(y[i]), true, true));
  }
}

TEST(FloatForms, SignsOfHalvesFlush) {
  auto x = allHalves();
  auto flushed = applyPtx<uint16_t>("abs.ftz.f16 %d, %x;", x),
       kept = applyPtx<uint16_t>("abs.f16 %d, %x;", x),
       negated = applyPtx<uint16_t>("neg.ftz.f16 %d, %x;", x),
       bfloat = applyPtx<uint16_t>("neg.bf16 %d, %x;", x);
  for (size_t i = 0; i < x.size(); ++i) {
    if ((x[i] & 0x7fff) > 0x7c00)
      continue; // NaN: the payload is not specified
    bool subnormal = (x[i] & 0x7c00) == 0;
    ASSERT_EQ(kept[i], x[i] & 0x7fff);
    ASSERT_EQ(flushed[i], subnormal ? 0 : x[i] & 0x7fff);
    ASSERT_EQ(negated[i], subnormal ? (x[i] ^ 0x8000) & 0x8000 : x[i] ^ 0x8000);
    if ((x[i] & 0x7fff) <= 0x7f80)
      ASSERT_EQ(bfloat[i], x[i] ^ 0x8000);
  }
}

// The lower words of argument and result do not exist, nor do subnormals.
TEST(FloatForms, RoughDoubles) {
  std::vector<double> x = {1.0,      -3.0,  7.25,  0x1.fffffffffffffp3, 1e-310, -1e-310, 0.0, -0.0,
                           INFINITY, 1e300, 1e-300};
  auto reciprocal = applyPtx<double>("rcp.approx.ftz.f64 %d, %x;", x),
       root = applyPtx<double>("abs.f64 %x, %x; rsqrt.approx.ftz.f64 %d, %x;", x);
  for (size_t i = 0; i < x.size(); ++i) {
    bool none = std::fpclassify(x[i]) == FP_SUBNORMAL || x[i] == 0;
    double expected = none ? std::copysign(INFINITY, x[i]) : 1 / x[i];
    for (auto [got, wanted] : {std::pair(reciprocal[i], expected),
                               {root[i], none ? INFINITY : 1 / std::sqrt(std::fabs(x[i]))}}) {
      EXPECT_EQ(std::bit_cast<uint64_t>(got) & 0xffffffff, 0u) << x[i];
      EXPECT_TRUE(got == wanted || std::fabs(got / wanted - 1) < 0x1p-18) << x[i] << ": " << got;
    }
  }
}

TEST(FloatForms, SlctFlushes) {
  std::vector<float> c = {1.0f, -1.0f, 0.0f, -0.0f, -1e-40f, NAN, -INFINITY};
  std::vector<uint32_t> x(c.size(), 7), y(c.size(), 9);
  auto plain =
           applyPtx<uint32_t, uint32_t, uint32_t, float>("slct.u32.f32 %d, %x, %y, %z;", x, y, c),
       flushed = applyPtx<uint32_t, uint32_t, uint32_t, float>("slct.ftz.u32.f32 %d, %x, %y, %z;",
                                                               x, y, c);
  EXPECT_EQ(plain, (std::vector<uint32_t>{7, 9, 7, 7, 9, 9, 9}));
  EXPECT_EQ(flushed, (std::vector<uint32_t>{7, 9, 7, 7, 7, 9, 9}));
}

TEST(FloatForms, SetOfPairs) {
  std::vector<uint32_t> x, y;
  const uint16_t values[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x7e00, 0x7c00};
  for (uint16_t a : values)
    for (uint16_t b : values) {
      x.push_back(a | uint32_t{b} << 16);
      y.push_back(b | uint32_t{0x3c00} << 16);
    }
  auto less = applyPtx<uint32_t>("set.lt.f16x2.f16x2 %d, %x, %y;", x, y);
  auto either = applyPtx<uint32_t>(
      "setp.eq.u32 %p, %x, 0x3c003c00; set.neu.and.bf16x2.bf16x2 %d, %x, %y, !%p;", x, y, {},
      "sm_90");
  auto mask = applyPtx<uint32_t>("set.geu.u32.f16x2 %d, %x, %y;", x, y);
  auto signedMask = applyPtx<uint32_t>("set.gt.s32.bf16x2 %d, %x, %y;", x, y, {}, "sm_90");
  for (size_t i = 0; i < x.size(); ++i)
    for (int part : {0, 16}) {
      auto a = static_cast<uint16_t>(x[i] >> part), b = static_cast<uint16_t>(y[i] >> part);
      EXPECT_EQ(less[i] >> part & 0xffff, halfToFloat(a) < halfToFloat(b) ? 0x3c00u : 0u);
      bool differ = !(bfloatToFloat(a) == bfloatToFloat(b)) && x[i] != 0x3c003c00;
      EXPECT_EQ(either[i] >> part & 0xffff, differ ? 0x3f80u : 0u);
      EXPECT_EQ(mask[i] >> part & 0xffff, halfToFloat(a) < halfToFloat(b) ? 0u : 0xffffu);
      bool isGreater = bfloatToFloat(a) > bfloatToFloat(b);
      EXPECT_EQ(signedMask[i] >> part & 0xffff, isGreater ? 0xffffu : 0u);
    }
}

TEST(FloatForms, PackedIntegersAreClamped) {
  auto [x, y] = allPairs(integerEdges<int32_t>());
  std::vector<int32_t> z(x.size(), 0x12345678);
  for (int bits : {16, 8, 4, 2})
    for (bool isSigned : {false, true}) {
      std::string type = (isSigned ? ".s" : ".u") + std::to_string(bits);
      auto result =
          bits == 16
              ? applyPtx<uint32_t>("cvt.pack.sat" + type + ".s32 %d, %x, %y;", x, y)
              : applyPtx<uint32_t>("cvt.pack.sat" + type + ".s32.b32 %d, %x, %y, %z;", x, y, z);
      int64_t least = isSigned ? -(1ll << (bits - 1)) : 0, most = least + (1ll << bits) - 1;
      for (size_t i = 0; i < x.size(); ++i) {
        int64_t high = std::clamp<int64_t>(x[i], least, most),
                low = std::clamp<int64_t>(y[i], least, most);
        int64_t part = (1ll << bits) - 1, above = bits == 16 ? 0 : int64_t{z[i]} << (2 * bits);
        EXPECT_EQ(result[i], static_cast<uint32_t>(above | (high & part) << bits | (low & part)))
            << type << " " << x[i] << ", " << y[i];
      }
    }
}

// Every half, to bytes: nearest even, the largest number in place of infinity, negative numbers to zero with .relu.
TEST(FloatForms, HalvesToBytesExhaustively) {
  std::vector<uint32_t> x;
  for (uint32_t i = 0; i < 1 << 16; i += 2)
    x.push_back(i | (i + 1) << 16);
  for (auto [name, format] : {std::pair("e4m3x2", kE4m3Format), {"e5m2x2", kE5m2Format}})
    for (bool relu : {false, true}) {
      auto result = applyPtx<uint16_t>(
          "cvt.rn.satfinite." + std::string(relu ? "relu." : "") + name + ".f16x2 %d, %x;", x,
          std::vector<uint32_t>(), std::vector<uint32_t>(), "sm_89");
      for (size_t i = 0; i < x.size(); ++i)
        for (int part : {0, 1}) {
          double value = decodeFloat(x[i] >> (16 * part) & 0xffff, kHalfFormat);
          if (relu && value <= 0)
            value = 0; // no minus zero
          ASSERT_EQ(result[i] >> (8 * part) & 255,
                    encodeFloat(value, format, Rounding::NearestEven, true))
              << name << relu << " " << value;
        }
    }
}

void expectRefused(const std::string &instruction) {
  try {
    applyPtx<uint64_t>("{ .reg .b16 %h, %i; .reg .b32 %e, %f, %g; .reg .b64 %u, %v, %w; " +
                           instruction + " mov.b64 %d, 0; }",
                       std::vector<uint64_t>{1}, std::vector<uint64_t>{2}, {}, "sm_90");
    ADD_FAILURE() << instruction << " was accepted";
  } catch (const Error &error) {
    EXPECT_TRUE(error.code() == ErrorCode::Unsupported || error.code() == ErrorCode::Parse)
        << instruction << error.what();
  }
}

TEST(FloatForms, WhatPtxDoesNotHaveIsRefused) {
  for (const char *instruction :
       {"min.sat.f32 %e, %f, %g;",
        "min.rn.f32 %e, %f, %g;",
        "add.NaN.f32 %e, %f, %g;",
        "add.ftz.f64 %u, %v, %w;",
        "add.rz.sat.f64 %u, %v, %w;",
        "fma.rn.relu.f32 %e, %f, %g, %e;",
        "fma.rn.relu.sat.f16 %h, %i, %i, %i;",
        "add.ftz.bf16 %h, %i, %i;",
        "max.NaN.f64 %u, %v, %w;",
        "min.xorsign.f32 %e, %f, %g;",
        "tanh.approx.ftz.bf16 %h, %i;",
        "ex2.approx.bf16 %h, %i;",
        "sin.approx.sat.f32 %e, %f;",
        "sqrt.approx.f64 %u, %v;",
        "div.rn.sat.f32 %e, %f, %g;",
        "cvt.f16.f32 %h, %e;",
        "cvt.s32.f32 %e, %f;",
        "cvt.f32.s32 %e, %f;",
        "cvt.rn.f64.f32 %u, %e;",
        "cvt.rn.u32.u64 %e, %u;",
        "cvt.rn.relu.f32.f64 %e, %u;",
        "cvt.rn.e4m3x2.f32 %h, %e, %f;",
        "cvt.rz.satfinite.e5m2x2.f32 %h, %e, %f;",
        "cvt.rm.f16x2.f32 %e, %f, %g;",
        "cvt.rn.satfinite.f16x2.e4m3x2 %e, %h;",
        "redux.sync.add.f32 %e, %f, -1;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %e, %f, %g, %e;"})
    expectRefused(instruction);
}

} // namespace
} // namespace tile::vgpu
