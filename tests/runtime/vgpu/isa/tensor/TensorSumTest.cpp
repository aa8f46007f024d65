// The sums of tensor cores, in cases worked out by hand.
#include "runtime/vgpu/isa/tensor/TensorSum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace tile::vgpu {
namespace {

using E = TensorElement;

// c + the values of `a`, each times one.
float sum(const SumRule &rule, E element, std::vector<float> a, float c,
          SumResult result = SumResult::F32) {
  std::vector<float> ones(a.size(), 1.0f);
  return std::bit_cast<float>(tensorSum(rule, element, element, a, ones, c, result));
}

const SumRule kAmpere = sumRule(80, E::F16, false), kHopper = sumRule(90, E::F16, false);

TEST(TensorSum, RulesOfTheArchitectures) {
  auto is = [](SumRule rule, int fraction, unsigned bytes, int result) {
    EXPECT_EQ(rule.fractionBits, fraction);
    EXPECT_EQ(rule.termBytes, bytes);
    EXPECT_EQ(rule.resultFractionBits, result);
  };
  is(sumRule(80, E::BF16, false), 24, 16, 23);
  is(sumRule(86, E::TF32, false), 24, 16, 23);
  is(sumRule(89, E::F16, false), 24, 16, 23);
  is(sumRule(89, E::E4M3, false), 13, 16, 13);
  is(sumRule(90, E::F16, true), 25, 32, 23);
  is(sumRule(90, E::E5M2, false), 25, 32, 23);
  is(sumRule(90, E::E5M2, true), 13, 32, 13);
  is(sumRule(100, E::F16, false), 25, 32, 23);
}

TEST(TensorSum, SmallSumsAreExact) {
  EXPECT_EQ(sum(kHopper, E::F16, {1, 2, 3, -4.5f}, 0.25f), 1.75f);
  EXPECT_EQ(std::bit_cast<uint32_t>(sum(kHopper, E::F16, {1, -1}, 0)), 0u);
  EXPECT_EQ(std::bit_cast<uint32_t>(sum(kHopper, E::F16, {-0.0f}, -0.0f)), 0u);
}

// Toward zero, where f32 arithmetic would round up: 1 + 2^-24 + 2^-24 is 1 + 2^-23, and 3/4 of a last place is cut.
TEST(TensorSum, ResultsAreRoundedTowardZero) {
  float place = std::ldexp(1.0f, -23), quarter = std::ldexp(1.0f, -25);
  EXPECT_EQ(sum(kHopper, E::BF16, {2 * quarter, 2 * quarter}, 1), 1 + place);
  EXPECT_EQ(sum(kHopper, E::BF16, {2 * quarter, quarter}, 1), 1.0f);
  EXPECT_EQ(sum(kHopper, E::BF16, {-2 * quarter, -quarter}, -1), -1.0f);
}

// Bits more than F below the highest exponent are lost before the sum, here in each term.
TEST(TensorSum, TermsAreCutBelowTheFraction) {
  float kept = std::ldexp(1.0f, -25), lost = std::ldexp(1.0f, -26);
  EXPECT_EQ(sum(kHopper, E::BF16, {kept, kept, kept, kept}, 1), 1 + std::ldexp(1.0f, -23));
  EXPECT_EQ(sum(kHopper, E::BF16, std::vector<float>(16, lost), 1), 1.0f);
  // Ampere keeps one bit less.
  EXPECT_EQ(sum(kAmpere, E::BF16, {kept, kept, kept, kept}, 1), 1.0f);
  EXPECT_EQ(sum(kAmpere, E::BF16, {2 * kept, 2 * kept}, 1), 1 + std::ldexp(1.0f, -23));
  // Cutting is toward zero for negative terms too: 1 - 2^-26 stays 1.
  EXPECT_EQ(sum(kHopper, E::BF16, {-lost}, 1), 1.0f);
}

// The large terms cancel, and what they hid stays lost.
TEST(TensorSum, CancellationDoesNotBringBitsBack) {
  float big = std::ldexp(1.0f, 25);
  EXPECT_EQ(sum(kHopper, E::BF16, {big, 1, -big}, 0.5f), 1.0f);
  EXPECT_EQ(sum(kHopper, E::BF16, {2 * big, 1, -2 * big}, 2.5f), 2.0f);
}

// The exponent of 1.5 * 1.5 is that of 1 * 1, although the product is above 2.
TEST(TensorSum, ProductsAreNotNormalised) {
  float kept = std::ldexp(1.0f, -25);
  auto bits = tensorSum(kHopper, E::BF16, E::BF16, std::vector<float>{1.5f, kept},
                        std::vector<float>{1.5f, 1}, -2.25f, SumResult::F32);
  // C has the higher exponent, 1: 2^-25 is below the fraction.
  EXPECT_EQ(std::bit_cast<float>(bits), 0.0f);
  bits = tensorSum(kHopper, E::BF16, E::BF16, std::vector<float>{1.5f, kept, -1.5f},
                   std::vector<float>{1.5f, 1, 1.5f}, 0, SumResult::F32);
  EXPECT_EQ(std::bit_cast<float>(bits), kept);
}

// A subnormal half counts with the exponent -14, so 2^-24 * 2^14 has the exponent 0 and not -10.
TEST(TensorSum, SubnormalFactorsKeepTheLeastExponent) {
  float least = std::ldexp(1.0f, -24), large = 16384, tiny = std::ldexp(1.0f, -26);
  auto of = [&](E element) {
    return std::bit_cast<float>(tensorSum(kHopper, element, element, std::vector<float>{least},
                                          std::vector<float>{large}, tiny, SumResult::F32));
  };
  EXPECT_EQ(of(E::F16), std::ldexp(1.0f, -10));
  EXPECT_EQ(of(E::BF16), std::ldexp(1.0f, -10) + tiny);
}

// Eight halves at a time on Ampere: the first sum is rounded before the second begins.
TEST(TensorSum, LongDepthsAreChains) {
  std::vector<float> a(16, 0.0f);
  a[0] = 65536;
  a[1] = std::ldexp(1.0f, -7);
  a[8] = -65536;
  a[9] = std::ldexp(1.0f, -7);
  EXPECT_EQ(sum(kHopper, E::BF16, a, 0), std::ldexp(1.0f, -6));
  EXPECT_EQ(sum(kAmpere, E::BF16, a, 0), std::ldexp(1.0f, -6));
  a[1] = a[9] = std::ldexp(1.0f, -8);
  EXPECT_EQ(sum(kHopper, E::BF16, a, 0), std::ldexp(1.0f, -7));
  EXPECT_EQ(sum(kAmpere, E::BF16, a, 0), std::ldexp(1.0f, -8));
}

TEST(TensorSum, Fp8OfWgmmaHasThirteenBits) {
  SumRule rule = sumRule(90, E::E4M3, true);
  float place = std::ldexp(1.0f, -13);
  EXPECT_EQ(sum(rule, E::E4M3, {1}, place), 1 + place);
  EXPECT_EQ(sum(rule, E::E4M3, {1}, place * 0.75f), 1.0f);
  // Above 2 one bit less fits into the result.
  EXPECT_EQ(sum(rule, E::E4M3, {1, 1}, place), 2.0f);
  EXPECT_EQ(sum(sumRule(90, E::E4M3, false), E::E4M3, {1}, place * 0.75f), 1 + place * 0.75f);
}

// fp8 of mma on Hopper: f16 sums, of each four elements the first two and then the others; C at the end.
TEST(TensorSum, Fp8OfMmaIsWidened) {
  SumRule rule = sumRule(90, E::E5M2, false);
  EXPECT_TRUE(rule.isWidened && sumRule(90, E::E4M3, false).isWidened);
  EXPECT_FALSE(sumRule(90, E::E5M2, true).isWidened || sumRule(89, E::E4M3, false).isWidened ||
               sumRule(90, E::F16, false).isWidened);
  auto of = [&](std::vector<float> a, std::vector<float> b, float c,
                SumResult result = SumResult::F32) {
    return tensorSum(rule, E::E5M2, E::E5M2, a, b, c, result);
  };
  auto f32 = [&](std::vector<float> a, std::vector<float> b, float c) {
    return std::bit_cast<float>(of(std::move(a), std::move(b), c));
  };
  float large = 32768, place = std::ldexp(1.0f, -23);
  // Cut beside 2^30, unless that has gone before.
  EXPECT_EQ(f32({large, -large, 1, 0}, {large, large, 1, 1}, 0), 1.0f);
  EXPECT_EQ(f32({large, 1, -large, 0}, {large, 1, large, 1}, 0), 0.0f);
  EXPECT_EQ(f32({large, 0, 1, 1, -large, 0, 0, 0}, {large, 0, 1, 1, large, 0, 0, 0}, 0), 2.0f);
  EXPECT_EQ(f32({0, 0, large, 1, 1, 0, -large, 0}, {0, 0, large, 1, 1, 0, large, 0}, 0), 0.0f);
  // C takes no part in the cutting and is rounded to nearest.
  EXPECT_EQ(f32({1}, {1}, std::ldexp(1.0f, 30)), std::ldexp(1.0f, 30));
  EXPECT_EQ(f32({large, 1, -large, 1}, {large, 1, large, 1}, 0.75f), 0.75f);
  EXPECT_EQ(f32({1}, {1}, 0.75f * place), 1 + place);
  EXPECT_EQ(f32({1}, {1}, 0.5f * place), 1.0f);
  EXPECT_EQ(f32({1}, {1}, -INFINITY), -INFINITY);
  EXPECT_EQ(of({INFINITY}, {1}, -INFINITY), 0x7fffffffu);
  // Sums of halves are rounded after each part: 2048 + 1 is a tie, then 2048 + 1 again.
  EXPECT_EQ(of({2048, 1, 1, 0}, {1, 1, 1, 0}, 0, SumResult::F16), 0x6800u);
  EXPECT_EQ(of({2048, 0, 1, 1}, {1, 0, 1, 1}, 0, SumResult::F16), 0x6801u);
  EXPECT_EQ(of({2048}, {1}, 3, SumResult::F16), 0x6802u);
  EXPECT_EQ(of({large, large}, {1, 1}, 0, SumResult::F16), 0x7c00u);
  EXPECT_EQ(of({1}, {1}, NAN, SumResult::F16), 0x7fffu);
}

TEST(TensorSum, HalfResultsAreRoundedToNearest) {
  auto of = [](std::vector<float> a, float c) {
    std::vector<float> ones(a.size(), 1.0f);
    return tensorSum(kHopper, E::F16, E::F16, a, ones, c, SumResult::F16);
  };
  EXPECT_EQ(of({1024}, 1024), 0x6800u);
  EXPECT_EQ(of({2048, 1}, 0), 0x6800u); // a tie, to even
  EXPECT_EQ(of({2048, 2, 1}, 0), 0x6802u);
  EXPECT_EQ(of({65504}, 32), 0x7c00u);
  EXPECT_EQ(of({NAN}, 0), 0x7fffu);
}

TEST(TensorSum, InfinitiesAndNaN) {
  EXPECT_EQ(sum(kHopper, E::BF16, {INFINITY, 1}, 2), INFINITY);
  EXPECT_EQ(sum(kHopper, E::BF16, {1}, -INFINITY), -INFINITY);
  auto bits = [](std::vector<float> a, std::vector<float> b, float c) {
    return tensorSum(kHopper, E::BF16, E::BF16, a, b, c, SumResult::F32);
  };
  EXPECT_EQ(bits({INFINITY}, {1}, -INFINITY), 0x7fffffffu);
  EXPECT_EQ(bits({INFINITY}, {0}, 1), 0x7fffffffu);
  EXPECT_EQ(bits({1}, {1}, NAN), 0x7fffffffu);
  // Finite factors may overflow.
  float large = std::ldexp(1.0f, 100);
  EXPECT_EQ(bits({large}, {-large}, 0), 0xff800000u);
  EXPECT_EQ(bits({std::ldexp(1.0f, 127)}, {1}, std::ldexp(1.0f, 127)), 0x7f800000u);
}

} // namespace
} // namespace tile::vgpu
