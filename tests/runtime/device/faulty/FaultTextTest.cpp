#include "tests/runtime/device/faulty/FaultyDevice.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace tile::device {
namespace {

TEST(FaultText, IsSeamAndFaultAndNumber) {
  std::vector<DeviceFault> faults =
      parseFaults("launch:illegal@3,alloc:oom,pass:crash@cse,wait:hang@2");
  ASSERT_EQ(faults.size(), 3u) << "the compiler's are its own";
  EXPECT_EQ(faults[0].seam, DeviceFault::Seam::Launch);
  EXPECT_EQ(faults[0].kind, DeviceFault::Kind::Illegal);
  EXPECT_EQ(faults[0].nth, 3u);
  EXPECT_EQ(faults[1].seam, DeviceFault::Seam::Alloc);
  EXPECT_EQ(faults[1].kind, DeviceFault::Kind::OutOfMemory);
  EXPECT_EQ(faults[1].nth, 1u);
  EXPECT_EQ(faults[2].kind, DeviceFault::Kind::Hang);
  EXPECT_TRUE(parseFaults("").empty());
}

TEST(FaultText, OtherTextIsRefused) {
  for (const char *text : {"launch", "launch:", ":oom", "launch:bad", "jump:oom", "alloc:oom@0",
                           "alloc:oom@x", "alloc:oom@1x", "alloc@1:oom", "alloc:oom@"})
    EXPECT_THROW(parseFaults(text), Error) << text;
}

TEST(FaultText, TheEnvironmentOrdersFaults) {
  setenv("TILE_FAULT", "alloc:oom@2", 1);
  auto device = FaultyDevice::ofEnvironment(openVirtual());
  unsetenv("TILE_FAULT");
  EXPECT_NO_THROW(device->alloc(64, {}, {}));
  EXPECT_THROW(device->alloc(64, {}, {}), Error);
  EXPECT_NO_THROW(device->alloc(64, {}, {}));
  EXPECT_EQ(device->calls(DeviceFault::Seam::Alloc), 3u);
  EXPECT_EQ(device->passed(), 2u);
}

} // namespace
} // namespace tile::device
