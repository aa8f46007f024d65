// Which clocks are read, and of which device; where nothing can be read it is said why.
#include "runtime/device/ClockReader.h"
#include "base/DynamicLibrary.h"
#include "tests/runtime/device/fakecuda/FakeCuda.h"
#include "tests/runtime/device/fakenvml/FakeNvml.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace tile::device {
namespace {

class Clocks : public testing::Test {
protected:
  void SetUp() override { fakeNvmlReset(); }
  void TearDown() override { fakeNvmlReset(), fakeCudaReset(); }
  static ClockReader readerOf(int ordinal) { return ClockReader(openCuda(ordinal)->props()); }
};

TEST_F(Clocks, AreThoseOfTheDeviceAtItsPlace) {
  fakeNvmlGpu(1)->megahertz = 1410;
  EXPECT_EQ(readerOf(0).read()->megahertz, 1980);
  EXPECT_EQ(readerOf(1).read()->megahertz, 1410);
}

TEST_F(Clocks, SayWhatSlowsTheDevice) {
  EXPECT_EQ(readerOf(0).text(), "1980 MHz, 43 degrees Celsius, 121 W");
  struct Case {
    unsigned long long reasons;
    const char *text;
  };
  for (auto [reasons, text] :
       {Case{0x1, ""}, Case{0x2, ""}, Case{0x100, ""}, Case{0x4, "its power limit"},
        Case{0x20, "heat"}, Case{0x40 | 0x8, "heat"}, Case{0x8, "its hardware"},
        Case{0x80 | 0x8, "a power brake"}, Case{0x24, "heat and its power limit"}}) {
    fakeNvmlGpu(0)->reasons = reasons;
    EXPECT_EQ(slowdownText(readerOf(0).read()->slowedBy), text) << reasons;
  }
  EXPECT_EQ(readerOf(0).text(),
            "1980 MHz, 43 degrees Celsius, 121 W, slowed by heat and its power limit");
}

TEST_F(Clocks, WithoutReasonsTemperatureAndPowerAreStillClocks) {
  for (const char *function : {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetMigMode",
                               "nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage"})
    fakeNvmlFail(function, 3);
  EXPECT_EQ(readerOf(0).text(), "1980 MHz");
}

TEST_F(Clocks, AreNotKnownWhereNvmlRefuses) {
  fakeNvmlFail("nvmlDeviceGetClockInfo", 3);
  EXPECT_EQ(readerOf(0).text(), "not known: NVML does not tell the clock: Not Supported");
  fakeNvmlReset();
  fakeNvmlFail("nvmlDeviceGetHandleByPciBusId_v2", 4);
  EXPECT_EQ(readerOf(0).text(),
            "not known: NVML does not give out 0000:65:00.0: Insufficient Permissions");
  fakeNvmlReset();
  fakeNvmlFail("nvmlInit_v2", 9);
  EXPECT_EQ(readerOf(0).text(), "not known: NVML does not start: Unknown Error");
}

TEST_F(Clocks, OfAPartOfAGpuAreNotKnown) {
  fakeNvmlGpu(0)->isDivided = true;
  EXPECT_EQ(readerOf(0).text(),
            "not known: the GPU is divided (MIG), and its clock not this part's alone");
  EXPECT_TRUE(readerOf(1).read());
}

TEST_F(Clocks, EndWithTheDevice) {
  ClockReader reader = readerOf(0);
  EXPECT_TRUE(reader.read());
  fakeNvmlFail("nvmlDeviceGetClockInfo", 15);
  EXPECT_FALSE(reader.read());
  fakeNvmlReset();
  EXPECT_FALSE(reader.read()) << "what is gone is not asked again";
  EXPECT_EQ(reader.text(), "not known: NVML does not tell the clock: GPU is lost");
}

TEST_F(Clocks, AreNotReadWhereTheDriverDoesNotTellItsPlace) {
  fakeCudaFail("cuDeviceGetPCIBusId", 1, 801);
  EXPECT_EQ(readerOf(0).text(), "not known: the CUDA driver does not tell where the device is");
}

TEST_F(Clocks, AreNotReadInAForkedChild) {
  ClockReader reader = readerOf(0);
  pid_t child = fork();
  if (child == 0)
    _exit(reader.read() ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Clocks, OfTheVirtualGpuDoNotExist) {
  DeviceProps props;
  props.countsWork = true;
  EXPECT_EQ(ClockReader(props).text(), "not known: it has none");
}

TEST_F(Clocks, OfOldLibrariesHaveReasonsToo) {
  base::DynamicLibrary old({OLD_NVML});
  nvml::Functions functions;
  ASSERT_TRUE(functions.bindAll(old));
  EXPECT_TRUE(functions.clockReasons);
  EXPECT_FALSE(functions.migMode || functions.power);
}

} // namespace
} // namespace tile::device
