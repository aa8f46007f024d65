// Which samples count.
#include "runtime/bench/QuietSamples.h"

#include <gtest/gtest.h>

namespace tile {
namespace {

constexpr uint64_t kHeat = device::nvml::kThermal;

TEST(QuietSamples, WithoutClocksAllCount) {
  QuietSamples samples;
  for (double ms : {3, 1, 2})
    samples.add({ms});
  EXPECT_EQ(samples.inOrder(), (std::vector<double>{3, 1, 2}));
  EXPECT_EQ(samples.sorted()[0], 1);
  EXPECT_EQ(samples.clock(), 0);
  EXPECT_EQ(samples.doubt(), "");
}

TEST(QuietSamples, SlowedOnesDoNotCount) {
  QuietSamples samples;
  samples.add({9, {{1980, kHeat}}});
  EXPECT_TRUE(samples.isDoubtful());
  samples.add({1, {{1980, 0}}});
  samples.add({2, {{1965, 0}}});
  EXPECT_EQ(samples.inOrder(), (std::vector<double>{1, 2}));
  EXPECT_EQ(samples.disturbed(), 1u);
  EXPECT_EQ(samples.doubt(), "");
}

TEST(QuietSamples, ThoseOfAnotherClockDoNotCount) {
  QuietSamples samples;
  samples.add({3, {{600, 0}}}); // not yet awake
  samples.add({1, {{1980, 0}}});
  samples.add({1.01, {{1980, 0}}});
  samples.add({1.02, {{1950, 0}}});
  EXPECT_EQ(samples.inOrder(), (std::vector<double>{1, 1.01, 1.02}));
  EXPECT_EQ(samples.clock(), 1980);
}

TEST(QuietSamples, IfMostAreSlowedAllCountAndAreDoubtful) {
  QuietSamples samples;
  samples.add({1, {{1980, 0}}});
  for (double ms : {2, 3, 4})
    samples.add({ms, {{1200, kHeat}}});
  EXPECT_EQ(samples.inOrder().size(), 4u);
  EXPECT_EQ(samples.doubt(), "the device was slowed by heat");
  EXPECT_EQ(samples.clock(), 1200);
}

TEST(QuietSamples, ClocksAllOverThePlaceAreDoubtful) {
  QuietSamples samples;
  for (int clock : {600, 900, 1200, 1500, 1800})
    samples.add({1, {{clock, 0}}});
  EXPECT_EQ(samples.doubt(), "its clock went from 600 to 1800 MHz");
}

} // namespace
} // namespace tile
