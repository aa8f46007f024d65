// Kernels of numbers: division, bits of 64, double precision, random numbers, halves and bytes. Compiled from kernels/*.cu.
#include "tests/runtime/vgpu/Lanewise.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <cmath>
#include <random>

namespace tile::vgpu {
namespace {

TEST(KernelsArithmetic, DivisionsOfAllWidths) {
  auto [a, b] = allPairs(integerEdges<int64_t>());
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] == INT64_MIN && b[i] == -1)
      b[i] = 5; // overflows
  auto n = static_cast<int>(a.size());
  Gpu gpu(kernelText("arithmetic.ptx"));
  auto da = gpu.upload(a), db = gpu.upload(b),
       dout = gpu.upload(std::vector<int64_t>(a.size() * 10));
  gpu.run("divisions", {static_cast<uint32_t>(n + 127) / 128}, {128}, 0, da, db, dout, n);
  gpu.expectClean();
  auto out = gpu.download<int64_t>(dout, a.size() * 10);
  for (size_t i = 0; i < a.size(); ++i) {
    if (b[i] == 0)
      continue;
    auto a32 = static_cast<int32_t>(a[i]), b32 = static_cast<int32_t>(b[i]) | 1;
    if (a32 == INT32_MIN && b32 == -1)
      continue;
    auto ua = static_cast<uint32_t>(a32), ub = static_cast<uint32_t>(b32);
    auto ua64 = static_cast<uint64_t>(a[i]), ub64 = static_cast<uint64_t>(b[i]);
    const int64_t expected[] = {a[i] / b[i],
                                a[i] % b[i],
                                static_cast<int64_t>(ua64 / ub64),
                                static_cast<int64_t>(ua64 % ub64),
                                a32 / b32,
                                a32 % b32,
                                static_cast<int64_t>(ua / ub + ua % 7 + ua / 10),
                                static_cast<int16_t>(a32) / static_cast<int16_t>(b32 | 1),
                                static_cast<uint8_t>(a32) % static_cast<uint8_t>(b32 | 1),
                                a32 / 8 + a32 % 1000 + a[i] / 12345};
    for (int k = 0; k < 10; ++k)
      EXPECT_EQ(out[i * 10 + k], expected[k]) << k << ": " << a[i] << ", " << b[i];
  }
}

TEST(KernelsArithmetic, BitsOfSixtyFour) {
  auto in = integerEdges<uint64_t>();
  std::mt19937_64 random(1);
  for (int i = 0; i < 60; ++i)
    in.push_back(random());
  auto n = static_cast<int>(in.size());
  Gpu gpu(kernelText("arithmetic.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(in.size() * 64);
  gpu.run("bits64", {1}, {128}, 0, din, dout, n);
  gpu.expectClean();
  auto out = gpu.download<uint64_t>(dout, in.size() * 8);
  for (size_t i = 0; i < in.size(); ++i) {
    uint64_t x = in[i], reversed = 0;
    for (int bit = 0; bit < 64; ++bit)
      reversed |= (x >> bit & 1) << (63 - bit);
    const uint64_t expected[] = {
        static_cast<uint64_t>(std::popcount(x)),
        static_cast<uint64_t>(std::countl_zero(x)),
        x ? static_cast<uint64_t>(std::countr_zero(x)) + 1 : 0,
        reversed,
        std::rotl(x, static_cast<int>(x & 63)),
        static_cast<uint64_t>((static_cast<unsigned __int128>(x) * 0x9e3779b97f4a7c15ull) >> 64),
        static_cast<uint64_t>((static_cast<__int128>(static_cast<int64_t>(x)) * -3) >> 64),
        (x & (x - 1)) ^ (x >> 13) ^ (x * 0xff51afd7ed558ccdull)};
    for (int k = 0; k < 8; ++k)
      EXPECT_EQ(out[i * 8 + k], expected[k]) << k << ": " << x;
  }
}

TEST(KernelsArithmetic, DoublePrecision) {
  std::vector<double> in = {0.0, -0.0, 1.0, -2.5, 3.5, 1e-3, 100.25, -250.125, 0.1, 7.7};
  auto n = static_cast<int>(in.size());
  Gpu gpu(kernelText("arithmetic.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(in.size() * 72);
  gpu.run("doubles", {1}, {32}, 0, din, dout, n);
  gpu.expectClean();
  auto out = gpu.download<double>(dout, in.size() * 9);
  for (size_t i = 0; i < in.size(); ++i) {
    double x = in[i], *got = &out[i * 9];
    EXPECT_EQ(got[0], x / 3.0 + 1.0 / std::fma(x, x, 1.0));
    EXPECT_EQ(got[1], std::sqrt(std::fma(x, x, 2.0)));
    EXPECT_EQ(got[2], std::fma(x, x, -1.0));
    EXPECT_EQ(got[3], std::floor(x) + std::rint(x * 0.5) + std::trunc(-x));
    EXPECT_NEAR(got[4], std::exp(x * 0.01), 4e-16 * std::exp(x * 0.01));
    EXPECT_NEAR(got[5], std::sin(x) + std::cos(x), 5e-16);
    EXPECT_EQ(got[6], std::rint(x) + std::trunc(x * 1e6));
    EXPECT_GE(got[7], x == 0 ? 0.0 : 1e-20);
    EXPECT_LE(got[7], std::ldexp(std::max(std::fabs(x), 2e-20), -51));
    EXPECT_NEAR(got[8],
                std::fmin(std::fmax(x, -3.5), 8.25) + std::copysign(2.0, x) +
                    std::log(std::fma(x, x, 1.0)),
                4e-15);
  }
}

// The stream of the published algorithm: Philox4x32-10, here written with 64-bit products.
TEST(KernelsArithmetic, Philox) {
  constexpr int n = 100;
  uint32_t seedLow = 0xdeadbeef, seedHigh = 12345;
  Gpu gpu(kernelText("arithmetic.ptx"));
  auto dout = gpu.device->alloc(n * 16);
  gpu.run("philox", {2}, {64}, 0, dout, seedLow, seedHigh, n);
  gpu.expectClean();
  auto out = gpu.download<uint32_t>(dout, n * 4);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t c[4] = {i, 0, 7, 0}, key[2] = {seedLow, seedHigh};
    for (int round = 0; round < 10; ++round) {
      uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
      uint32_t next[4] = {
          static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(p1),
          static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(p0)};
      std::copy_n(next, 4, c);
      key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
    }
    for (int k = 0; k < 4; ++k)
      EXPECT_EQ(out[i * 4 + k], c[k]) << i;
  }
}

std::vector<uint16_t> halfPatterns() {
  return {0x0000, 0x8000, 0x3c00, 0xbc00, 0x3555, 0x4248, 0xc500, 0x7bff, 0xfbff, 0x7c00,
          0xfc00, 0x7e00, 0x0001, 0x83ff, 0x0400, 0x1400, 0x2e66, 0x6400, 0xd140, 0x3bff};
}

// Sums and products of halves are exact in double, so one rounding is all there is.
uint16_t roundHalf(double value) {
  return static_cast<uint16_t>(encodeFloat(value, kHalfFormat, Rounding::NearestEven));
}

TEST(KernelsArithmetic, PairsOfHalves) {
  auto [low, high] = allPairs(halfPatterns());
  std::vector<uint32_t> a, b;
  for (size_t i = 0; i < low.size(); ++i) {
    a.push_back(low[i] | uint32_t{high[i]} << 16);
    b.push_back(high[i] | uint32_t{low[low.size() - 1 - i]} << 16);
  }
  auto n = static_cast<int>(a.size());
  Gpu gpu(kernelText("narrow.ptx"));
  auto da = gpu.upload(a), db = gpu.upload(b), dout = gpu.device->alloc(a.size() * 40);
  gpu.run("half2_math", {static_cast<uint32_t>(n + 127) / 128}, {128}, 0, da, db, dout, n);
  gpu.expectClean();
  auto out = gpu.download<uint32_t>(dout, a.size() * 10);
  for (size_t i = 0; i < a.size(); ++i)
    for (int part = 0; part < 2; ++part) {
      auto bits = [&](uint32_t word) { return static_cast<uint16_t>(word >> (16 * part)); };
      double x = decodeFloat(bits(a[i]), kHalfFormat), y = decodeFloat(bits(b[i]), kHalfFormat);
      bool anyNan = std::isnan(x) || std::isnan(y);
      auto clampRelu = [](double v) { return v <= 0 ? 0.0 : v; };
      double larger = std::fmax(x, y), smaller = anyNan ? NAN : std::fmin(x, y);
      if (x == 0 && y == 0) // -0 is less than +0
        larger = std::signbit(x) ? y : x, smaller = std::signbit(x) ? x : y;
      const uint16_t expected[] = {roundHalf(x + y),
                                   roundHalf(x * y),
                                   roundHalf(std::fma(x, y, x)),
                                   roundHalf(clampRelu(std::fma(x, y, -x))),
                                   roundHalf(larger),
                                   roundHalf(smaller),
                                   static_cast<uint16_t>(roundHalf(x - y) & 0x7fff),
                                   roundHalf(x + y > 0 ? std::min(x + y, 1.0) : 0.0),
                                   static_cast<uint16_t>(x > y ? 0x3c00 : 0)};
      for (int k = 0; k < 9; ++k)
        EXPECT_EQ(bits(out[i * 10 + k]), expected[k]) << k << ": " << x << ", " << y;
    }
}

TEST(KernelsArithmetic, BfloatMath) {
  std::vector<float> values = {0.0f, -0.0f, 1.0f, -2.5f, 3.140625f, 1000.0f, -0.01f, 100.0f, 0.3f};
  std::vector<uint16_t> patterns;
  for (float value : values)
    patterns.push_back(floatToBfloat(value));
  auto [a, b] = allPairs(patterns);
  auto n = static_cast<int>(a.size());
  Gpu gpu(kernelText("narrow.ptx"));
  auto da = gpu.upload(a), db = gpu.upload(b), dout = gpu.device->alloc(a.size() * 12);
  gpu.run("bfloat_math", {1}, {128}, 0, da, db, dout, n);
  gpu.expectClean();
  auto out = gpu.download<uint16_t>(dout, a.size() * 6);
  auto round = [](double value) {
    return static_cast<uint16_t>(encodeFloat(value, kBfloatFormat, Rounding::NearestEven));
  };
  for (size_t i = 0; i < a.size(); ++i) {
    double x = bfloatToFloat(a[i]), y = bfloatToFloat(b[i]);
    EXPECT_EQ(out[i * 6], round(x + y)) << x << ", " << y;
    EXPECT_EQ(out[i * 6 + 1] & 0x7fff, round(x * y) & 0x7fff) << x << ", " << y;
    EXPECT_EQ(out[i * 6 + 2], round(std::fma(x, y, x))) << x << ", " << y;
    if (x != 0 || y != 0)
      EXPECT_EQ(out[i * 6 + 3], round(std::fmax(x, y))) << x << ", " << y;
    EXPECT_EQ(out[i * 6 + 4], round(static_cast<float>(x) / 3.0f)) << x;
    if (x != 0 || y != 0)
      EXPECT_EQ(out[i * 6 + 5], round(std::fmin(std::fabs(x), -y))) << x << ", " << y;
  }
}

// CUDA's conversions saturate. On sm_80 the headers emulate them in integers: many instructions, one right answer.
TEST(KernelsArithmetic, BytesOfFloats) {
  std::vector<float> in = {0.0f,       -0.0f,    1.0f,     448.0f,   464.0f,  465.0f,
                           -1e9f,      57344.0f, 61440.0f, 1e-3f,    0x1p-9f, 0x1p-10f,
                           0x1.8p-10f, 0x1p-16f, 0x1p-17f, INFINITY, NAN};
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i)
    in.push_back(std::ldexp(static_cast<float>(random() % 4096) - 2048,
                            static_cast<int>(random() % 30) - 24));
  auto n = static_cast<int>(in.size());
  Gpu gpu(kernelText("narrow.ptx"));
  auto din = gpu.upload(in), d4 = gpu.device->alloc(in.size()), d5 = gpu.device->alloc(in.size()),
       dback = gpu.device->alloc(in.size() * 8);
  gpu.run("fp8_round_trip", {2}, {128}, 0, din, d4, d5, dback, n);
  gpu.expectClean();
  auto e4m3 = gpu.download<uint8_t>(d4, in.size()), e5m2 = gpu.download<uint8_t>(d5, in.size());
  auto back = gpu.download<float>(dback, in.size() * 2);
  for (size_t i = 0; i < in.size(); ++i) {
    if (std::isnan(in[i])) {
      EXPECT_TRUE(std::isnan(back[2 * i]) && std::isnan(back[2 * i + 1]));
      continue;
    }
    EXPECT_EQ(e4m3[i], encodeFloat(in[i], kE4m3Format, Rounding::NearestEven, true)) << in[i];
    EXPECT_EQ(e5m2[i], encodeFloat(in[i], kE5m2Format, Rounding::NearestEven, true)) << in[i];
    EXPECT_EQ(back[2 * i], decodeFloat(e4m3[i], kE4m3Format));
    EXPECT_EQ(back[2 * i + 1], decodeFloat(e5m2[i], kE5m2Format));
  }
}

} // namespace
} // namespace tile::vgpu
