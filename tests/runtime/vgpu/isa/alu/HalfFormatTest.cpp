// Rounding to narrow formats against a search among all their numbers.
#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tile::vgpu {
namespace {

struct FormatCase {
  const char *name;
  FloatFormat format;
  double least, largest; // positive numbers
};

class Formats : public testing::TestWithParam<FormatCase> {
protected:
  // All finite numbers that are not negative.
  static std::map<double, uint32_t> numbersOf(FloatFormat format) {
    std::map<double, uint32_t> numbers;
    for (uint32_t code = 0; code < 1u << (format.exponentBits + format.mantissaBits); ++code)
      if (double value = decodeFloat(code, format); std::isfinite(value))
        numbers[value] = code;
    return numbers;
  }
};

TEST_P(Formats, HaveTheseNumbers) {
  FloatFormat format = GetParam().format;
  auto numbers = numbersOf(format);
  uint32_t nonFinite = format.hasInfinity ? 1u << format.mantissaBits : 1;
  EXPECT_EQ(numbers.size(), (1u << (format.exponentBits + format.mantissaBits)) - nonFinite);
  EXPECT_EQ(std::next(numbers.begin())->first, GetParam().least);
  EXPECT_EQ(numbers.rbegin()->first, GetParam().largest);
  uint32_t code = 0;
  for (auto [value, numbersCode] : numbers)
    ASSERT_EQ(numbersCode, code++) << value; // in order
  uint32_t sign = 1u << (format.exponentBits + format.mantissaBits);
  EXPECT_EQ(decodeFloat(sign | 1, format), -GetParam().least);
  EXPECT_TRUE(std::signbit(decodeFloat(sign, format)));
  EXPECT_TRUE(std::isnan(decodeFloat(sign - 1, format)));
}

// The code of a finite value of size `size`, by the distances to its two neighbours. Beyond the largest number lies what
// would be the next one.
uint32_t roundBySearch(const std::map<double, uint32_t> &numbers, double size, bool negative,
                       Rounding rounding, bool saturate) {
  auto above = numbers.lower_bound(size);
  uint32_t highest = numbers.rbegin()->second, infinity = highest + 1; // or the only NaN
  if (above != numbers.end() && above->first == size)
    return above->second;
  double largest = numbers.rbegin()->first,
         step = largest - std::prev(std::prev(numbers.end()))->first;
  double below = std::prev(above)->first,
         next = above == numbers.end() ? largest + step : above->first;
  uint32_t belowCode = std::prev(above)->second;
  bool up = false;
  switch (rounding) {
  case Rounding::Zero:
    return belowCode;
  case Rounding::Down:
    up = negative;
    break;
  case Rounding::Up:
    up = !negative;
    break;
  case Rounding::NearestAway:
    up = size - below >= next - size;
    break;
  case Rounding::NearestEven:
    up = size - below > next - size || (size - below == next - size && (belowCode & 1));
  }
  if (!up)
    return belowCode;
  return belowCode < highest ? belowCode + 1 : saturate ? highest : infinity;
}

TEST_P(Formats, AreRoundedToTheRightNeighbour) {
  const FormatCase &test = GetParam();
  auto numbers = numbersOf(test.format);
  std::vector<double> ordered;
  for (auto [value, code] : numbers)
    ordered.push_back(value);
  uint32_t sign = 1u << (test.format.exponentBits + test.format.mantissaBits);
  std::mt19937_64 random(13);
  for (int trial = 0; trial < 3000; ++trial) {
    size_t at = random() % (ordered.size() - 1);
    double low = ordered[at], gap = ordered[at + 1] - low;
    // Numbers, ties, their nearest doubles, anything between, and beyond the largest.
    double tie = low + gap / 2, between = low + gap * static_cast<double>(random() % 1024) / 1024;
    const double sizes[] = {low,
                            tie,
                            std::nextafter(tie, 0),
                            std::nextafter(tie, INFINITY),
                            between,
                            test.largest * (1 + static_cast<double>(random() % 64) / 1024)};
    for (double size : sizes)
      for (bool negative : {false, true})
        for (int mode = 0; mode < 5; ++mode)
          for (bool saturate : {false, true}) {
            auto rounding = static_cast<Rounding>(mode);
            uint32_t expected =
                roundBySearch(numbers, size, negative, rounding, saturate) | (negative ? sign : 0);
            ASSERT_EQ(encodeFloat(negative ? -size : size, test.format, rounding, saturate),
                      expected)
                << std::hexfloat << size << " negative " << negative << " mode " << mode;
          }
  }
}

TEST_P(Formats, ExtremesOfDoubles) {
  const FormatCase &test = GetParam();
  uint32_t sign = 1u << (test.format.exponentBits + test.format.mantissaBits), nan = sign - 1;
  uint32_t largest = encodeFloat(test.largest, test.format, Rounding::NearestEven);
  auto of = [&](double value, Rounding rounding, bool saturate = false) {
    return encodeFloat(value, test.format, rounding, saturate);
  };
  EXPECT_EQ(of(NAN, Rounding::NearestEven), nan);
  EXPECT_EQ(of(-NAN, Rounding::NearestEven, true), nan);
  EXPECT_EQ(of(INFINITY, Rounding::Zero), largest + 1);
  EXPECT_EQ(of(-INFINITY, Rounding::Zero), sign | (largest + 1));
  EXPECT_EQ(of(-INFINITY, Rounding::NearestEven, true), sign | largest);
  EXPECT_EQ(of(1e300, Rounding::NearestEven), largest + 1);
  EXPECT_EQ(of(1e300, Rounding::Zero), largest);
  EXPECT_EQ(of(0x1p-1074, Rounding::NearestEven), 0u);
  EXPECT_EQ(of(0x1p-1074, Rounding::Up), 1u);
  EXPECT_EQ(of(-0x1p-1074, Rounding::Down), sign | 1);
  EXPECT_EQ(of(-0x1p-1074, Rounding::Up), sign);
  EXPECT_EQ(of(-0.0, Rounding::Up), sign);
}

INSTANTIATE_TEST_SUITE_P(All, Formats,
                         testing::Values(FormatCase{"Half", kHalfFormat, 0x1p-24, 65504},
                                         FormatCase{"Bfloat", kBfloatFormat, 0x1p-133, 0x1.fep127},
                                         FormatCase{"E5m2", kE5m2Format, 0x1p-16, 57344},
                                         FormatCase{"E4m3", kE4m3Format, 0x1p-9, 448}),
                         [](const auto &test) { return std::string(test.param.name); });

// The conversions of loops over lanes are those of the general one.
TEST(HalfFormat, FromFloatForAllPlacesOfTheLastBits) {
  std::mt19937 random(4);
  for (uint32_t high = 0; high < 65536; ++high)
    for (uint32_t low : {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu,
                         static_cast<uint32_t>(random() & 0xffff)}) {
      float value = std::bit_cast<float>(high << 16 | low);
      ASSERT_EQ(floatToHalf(value), encodeFloat(value, kHalfFormat, Rounding::NearestEven))
          << std::hexfloat << value;
      ASSERT_EQ(floatToBfloat(value), encodeFloat(value, kBfloatFormat, Rounding::NearestEven))
          << std::hexfloat << value;
    }
}

TEST(HalfFormat, ToFloatIsExact) {
  for (uint32_t code = 0; code < 65536; ++code) {
    auto half = static_cast<uint16_t>(code);
    double exact = decodeFloat(code, kHalfFormat);
    if (!std::isnan(exact)) {
      ASSERT_EQ(halfToFloat(half), exact) << code;
    } else {
      ASSERT_TRUE(std::isnan(halfToFloat(half))) << code;
    }
  }
}

} // namespace
} // namespace tile::vgpu
