// bench() and the tuner's trials on a GPU whose clock and heat the test sets.
#include "runtime/device/Device.h"
#include "runtime/tune/Attempts.h"
#include "tests/runtime/device/fakecuda/FakeCuda.h"
#include "tests/runtime/device/fakenvml/FakeNvml.h"
#include "tests/runtime/tune/Kernels.h"

#include <tile/Bench.h>

namespace tile {
namespace {

constexpr unsigned long long kPowerCap = 0x4, kHeat = 0x20;

class ClockedBench : public testing::Test {
protected:
  void SetUp() override {
    fakeCudaReset(), fakeNvmlReset();
    fakeCudaSetClock(0, 0.25, false);
  }
  void TearDown() override { fakeCudaReset(), fakeNvmlReset(); }
  BenchResult measure(BenchOptions options = {}) const {
    options.flushL2 = false;
    return bench(
        stream_, [&] { kernel_.consts(256, 3)(stream_, x_, y_); }, options);
  }

  /// Its cache is small, so that little is read to empty it.
  static Device open() {
    constexpr int kL2Attribute = 38, kL2Bytes = 50 << 20;
    fakeCudaSetAttribute(kL2Attribute, 0);
    Device device = Device::wrap(device::openCuda(0), "small");
    fakeCudaSetAttribute(kL2Attribute, kL2Bytes);
    return device;
  }

  Device device_ = open();
  Stream stream_ = device_.stream();
  Kernel<In<f32, 1>, Out<f32, 1>, Const, Const> kernel_ = test::scaledKernel();
  TensorOf<float> x_ = device_.tensor<float>({1000}), y_ = device_.tensor<float>({1000});
};

TEST_F(ClockedBench, TellsTheClock) {
  BenchResult result = measure();
  EXPECT_EQ(result.clockMHz, 1980);
  EXPECT_EQ(result.doubt, "");
  EXPECT_EQ(result.str(), "250 us (95 %: 250 to 250, 20 samples, 1980 MHz)");
}

TEST_F(ClockedBench, RepeatsSamplesThatWereSlowed) {
  fakeNvmlNext(1980, 0, 3); // opening reads once, and the first sample is no more than a look
  fakeNvmlNext(1200, kHeat, 7);
  BenchResult result = measure();
  EXPECT_EQ(result.samples.size(), 20u);
  EXPECT_EQ(fakeNvmlReadings(), 2 + 20 + 7);
  EXPECT_EQ(result.clockMHz, 1980);
  EXPECT_EQ(result.doubt, "");
}

TEST_F(ClockedBench, InTheEndCallsThemDoubtful) {
  fakeNvmlGpu(0)->reasons = kPowerCap, fakeNvmlGpu(0)->megahertz = 1500;
  BenchResult result = measure();
  EXPECT_EQ(result.samples.size(), 60u) << "three times as many, and no more";
  EXPECT_EQ(result.doubt, "the device was slowed by its power limit");
  EXPECT_EQ(result.str(), "250 us (95 %: 250 to 250, 60 samples, 1500 MHz; doubtful: the device "
                          "was slowed by its power limit)");
}

TEST_F(ClockedBench, GoesOnWithoutAClockThatVanishes) {
  fakeNvmlFail("nvmlDeviceGetClockInfo", 15);
  BenchResult result = measure();
  EXPECT_EQ(result.clockMHz, 0);
  EXPECT_EQ(result.str(), "250 us (95 %: 250 to 250, 20 samples)");
}

// --- Trials --------------------------------------------------------------------------------------

class ClockedTrials : public ClockedBench {
protected:
  tune::TunedCall call() const { return {kernel_.record(), device_, args_, constants_}; }
  static tune::AttemptOptions soon() {
    tune::AttemptOptions options;
    options.restSeconds = 0.001;
    return options;
  }
  std::vector<HostArg> args_ = {toHostArg(x_), toHostArg(y_)};
  std::vector<int64_t> constants_ = {0, 3};
  const Config one_ = {{"block", 256}, {"warps", 4}}, other_ = {{"block", 512}, {"warps", 4}};
};

TEST_F(ClockedTrials, KeepTheClock) {
  tune::Attempts attempts(call(), soon());
  tune::Trial trial = attempts.attempt(one_);
  EXPECT_EQ(trial.status, tune::Status::Timed) << trial.reason;
  EXPECT_EQ(trial.clockMHz, 1980);
  EXPECT_EQ(trial.doubt, "");
}

TEST_F(ClockedTrials, AreRepeatedUntilTheDeviceIsCool) {
  tune::Attempts attempts(call(), soon());
  fakeNvmlNext(1200, kHeat, 2 + 18); // all of the first time
  tune::Trial trial = attempts.attempt(one_);
  EXPECT_EQ(trial.clockMHz, 1980);
  EXPECT_EQ(trial.doubt, "");
}

TEST_F(ClockedTrials, AtAnotherClockThanOthersAreDoubtful) {
  tune::Attempts attempts(call(), soon());
  attempts.attempt(one_);
  fakeNvmlGpu(0)->megahertz = 1410;
  tune::Trial trial = attempts.attempt(other_);
  EXPECT_EQ(trial.clockMHz, 1410);
  EXPECT_EQ(trial.doubt, "its clock was 1410 MHz, in other trials 1980 MHz");
}

TEST_F(ClockedTrials, ThatCompeteLeaveOutTurnsOfASlowerDevice) {
  tune::Attempts attempts(call(), soon());
  tune::Trial one = attempts.attempt(one_), other = attempts.attempt(other_);
  constexpr int kReadings = 2 + 10; // opening, a look, the samples
  fakeNvmlNext(1980, 0, 4 * kReadings);
  fakeNvmlNext(1410, 0, 3 * kReadings); // the third turn of the first one, each time
  attempts.compare({&one, &other});
  EXPECT_EQ(one.samples, 40);
  EXPECT_EQ(other.samples, 50);
  EXPECT_EQ(one.doubt + other.doubt, "");
  fakeNvmlGpu(0)->reasons = kHeat;
  attempts.compare({&one, &other});
  EXPECT_EQ(one.doubt, "the device was slowed by heat");
}

TEST_F(ClockedTrials, ThatCompeteDoSoUntilTheirTimesAreKnown) {
  tune::AttemptOptions options = soon();
  options.mostFinalSeconds = 600; // however busy the machine is
  tune::Attempts attempts(call(), options);
  tune::Trial one = attempts.attempt(one_), other = attempts.attempt(other_);
  attempts.compare({&one, &other});
  EXPECT_EQ(one.samples, 50) << "five turns, of steady times";
  fakeCudaSetUnsteady(0.004);
  attempts.compare({&one, &other});
  EXPECT_EQ(one.samples, 50) << "within 1 %";
  fakeCudaSetUnsteady(0.1);
  attempts.compare({&one, &other});
  EXPECT_EQ(one.samples, 300) << "half of the times are 10 % longer, however many are taken";
  options.mostFinalSeconds = 0;
  tune::Attempts hasty(call(), options);
  hasty.attempt(one_);
  hasty.compare({&one, &other});
  EXPECT_EQ(one.samples, 50) << "when the time is up";
}

} // namespace
} // namespace tile
