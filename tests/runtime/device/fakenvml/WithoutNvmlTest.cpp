// Measuring where there is no NVML: as ever.
#include "runtime/device/ClockReader.h"

#include <tile/Bench.h>

#include <gtest/gtest.h>

namespace tile {
namespace {

TEST(WithoutNvml, TheClockIsNotKnownAndItIsSaidWhy) {
  device::ClockReader reader(device::openCuda(0)->props());
  EXPECT_FALSE(reader.read());
  EXPECT_EQ(reader.text().find("not known: there is no NVML: /nowhere/libnvidia-ml.so.1: "), 0u)
      << reader.text();
}

TEST(WithoutNvml, TimesAreTakenAllTheSame) {
  Device device = Device::open("cuda:0");
  BenchResult result = bench(device.stream(), [] {});
  EXPECT_EQ(result.clockMHz, 0);
  EXPECT_EQ(result.doubt, "");
  EXPECT_EQ(result.str().find("MHz"), std::string::npos);
}

} // namespace
} // namespace tile
