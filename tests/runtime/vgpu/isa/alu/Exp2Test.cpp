// The exponential of loops over lanes against the library's.
#include "runtime/vgpu/isa/alu/Exp2.h"

#include <gtest/gtest.h>

#include <random>

namespace tile::vgpu {
namespace {

TEST(Exp2, IntegersAreExact) {
  for (int exponent = -149; exponent < 128; ++exponent)
    EXPECT_EQ(static_cast<float>(exp2OfSingle(static_cast<float>(exponent))),
              std::ldexp(1.0f, exponent));
}

TEST(Exp2, IsRoundedToTheSameSingle) {
  std::mt19937 random(9);
  int differing = 0;
  auto check = [&](float x) {
    double expected = std::exp2(double{x}), actual = exp2OfSingle(x);
    ASSERT_NEAR(actual / expected, 1, 1.1e-12) // 2^-39.7
        << std::hexfloat << x;
    differing += static_cast<float>(actual) != static_cast<float>(expected);
  };
  for (int trial = 0; trial < 200000; ++trial) {
    check(std::uniform_real_distribution<float>(-150, 128)(random));
    check(std::uniform_real_distribution<float>(-1, 1)(random));
    check(std::ldexp(1 + static_cast<float>(random() % 65536) / 65536,
                     -static_cast<int>(random() % 40)));
  }
  EXPECT_LE(differing, 20); // of 600,000
}

TEST(Exp2, Extremes) {
  auto single = [](float x) { return static_cast<float>(exp2OfSingle(x)); };
  EXPECT_EQ(single(128), INFINITY);
  EXPECT_EQ(single(INFINITY), INFINITY);
  EXPECT_EQ(single(3e38f), INFINITY);
  EXPECT_EQ(single(-INFINITY), 0);
  EXPECT_EQ(single(-3e38f), 0);
  EXPECT_EQ(single(-149), 0x1p-149f);
  EXPECT_EQ(single(-150.5f), 0);
  EXPECT_EQ(single(-0.0f), 1);
  EXPECT_TRUE(std::isnan(single(NAN)));
}

} // namespace
} // namespace tile::vgpu
