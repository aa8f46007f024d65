// bench() on a GPU whose clock the test sets.
#include "runtime/device/Device.h"
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include <tile/Bench.h>
#include <tile/tile.h>

#include <algorithm>
#include <gtest/gtest.h>

using namespace tile;

namespace {

const auto work = kernel("work", [](Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = zeros(f32, {B});
});

class FakeCudaBench : public testing::Test {
protected:
  void SetUp() override { fakeCudaReset(); }
  void TearDown() override {
    EXPECT_TRUE(fakeCudaFailedCalls().empty());
    EXPECT_TRUE(fakeCudaHazards().empty());
    fakeCudaReset();
  }
  void call() const { work.consts(64)(stream_, y_); }
  size_t launchesOf(const std::string &name) const {
    return std::ranges::count(fakeCudaLaunches(), name, &FakeLaunch::kernel);
  }

  Device device_ = Device::open("cuda:0");
  Stream stream_ = device_.stream();
  TensorOf<float> y_ = device_.tensor<float>({64});
};

TEST_F(FakeCudaBench, TimesACallBetweenEventsAfterReadingOtherData) {
  fakeCudaSetClock(0, 0.25, false);
  BenchResult result = bench(stream_, [&] { call(); });
  EXPECT_EQ(result.unit, BenchResult::Unit::Milliseconds);
  EXPECT_FALSE(result.counts);
  EXPECT_DOUBLE_EQ(result.milliseconds(), 0.25);
  EXPECT_EQ(result.lower, result.upper);
  EXPECT_EQ(result.samples.size(), 20u) << "the fewest, as all are equal";
  EXPECT_EQ(result.callsPerSample, 1);
  EXPECT_FALSE(result.isHostBound);
  // Three to warm up, and one to see how long a call takes.
  EXPECT_EQ(launchesOf("work"), 3u + 1 + 20);
  EXPECT_EQ(launchesOf("read_all"), 1u + 20);
}

TEST_F(FakeCudaBench, ReadsFourTimesTheCacheAndLetsGoOfIt) {
  constexpr int kL2Attribute = 38, kL2Bytes = 50 << 20;
  fakeCudaSetAttribute(kL2Attribute, kL2Bytes);
  Device large = Device::wrap(device::openCuda(0), "large");
  fakeCudaSetAttribute(kL2Attribute, 0);
  Stream stream = large.stream();
  (void)bench(stream, [] {}, {.minSamples = 1, .callsPerSample = 1}); // loads what reads
  size_t before = fakeCudaLive("memory");
  fakeCudaReset();
  (void)bench(stream, [] {}, {.minSamples = 1, .callsPerSample = 1});
  ASSERT_EQ(fakeCudaLaunches().size(), 1u);
  EXPECT_EQ(fakeCudaLaunches()[0].grid[0] * 4096 * sizeof(float), 4u * kL2Bytes);
  EXPECT_EQ(fakeCudaLive("memory"), before);
}

TEST_F(FakeCudaBench, WithoutFlushingACallComesBeforeEachSample) {
  fakeCudaSetClock(0, 0.25, false);
  BenchResult result =
      bench(stream_, [&] { call(); }, {.warmups = 1, .flushL2 = false, .minSamples = 5});
  EXPECT_EQ(result.samples.size(), 5u);
  EXPECT_EQ(launchesOf("work"), 1u + 2 + 5 * 2);
  EXPECT_EQ(launchesOf("read_all"), 0u);
}

TEST_F(FakeCudaBench, ShortCallsAreTimedTogether) {
  fakeCudaSetClock(0, 0.003, false);
  BenchResult result = bench(stream_, [&] { call(); });
  EXPECT_EQ(result.callsPerSample, 4) << "as many as take 10 us";
  EXPECT_NEAR(result.milliseconds(), 0.003, 1e-6);
  EXPECT_EQ(bench(stream_, [&] { call(); }, {.callsPerSample = 1}).callsPerSample, 1);
}

TEST_F(FakeCudaBench, CallsThatDoNothingEnd) {
  fakeCudaSetClock(0, 0, false);
  BenchResult result = bench(stream_, [] {}, {.flushL2 = false});
  EXPECT_EQ(result.milliseconds(), 0);
  EXPECT_EQ(result.callsPerSample, 1000);
}

TEST_F(FakeCudaBench, SamplesAreTakenUntilTheIntervalIsNarrow) {
  int calls = 0;
  // Half of the first 40 samples are three times as long; later ones are all short.
  auto unsteady = [&] {
    ++calls;
    fakeCudaSetClock(0, calls % 2 && calls <= 40 ? 3 : 1, false);
    call();
    fakeCudaSetClock(0, 1, false);
  };
  BenchResult result =
      bench(stream_, unsteady, {.warmups = 0, .maxSeconds = 60, .callsPerSample = 1});
  EXPECT_GT(result.samples.size(), 40u);
  EXPECT_DOUBLE_EQ(result.milliseconds(), 1);
  EXPECT_EQ(result.samples[0], 3);
  EXPECT_EQ(result.samples[1], 1) << "in the order in which they were taken";
  EXPECT_LE(result.upper - result.lower, 0.01 * result.median);
}

TEST_F(FakeCudaBench, TimeEndsWhatDoesNotBecomePrecise) {
  int calls = 0;
  auto unsteady = [&] {
    fakeCudaSetClock(0, ++calls % 2 ? 3 : 1, false);
    call();
  };
  BenchResult result = bench(stream_, unsteady, {.maxSeconds = 0.05, .callsPerSample = 1});
  EXPECT_GT(result.upper, result.lower);
  EXPECT_EQ(bench(stream_, unsteady, {.maxSeconds = 1e-9, .callsPerSample = 1}).samples.size(), 1u);
}

TEST_F(FakeCudaBench, ADeviceThatWaitsForTheHostIsGivenMoreBeforeASample) {
  fakeCudaSetClock(0, 0.25, true);
  BenchResult result =
      bench(stream_, [&] { call(); }, {.warmups = 0, .minSamples = 1, .callsPerSample = 1});
  EXPECT_TRUE(result.isHostBound);
  EXPECT_EQ(launchesOf("read_all"), 1u + 2 + 4 + 8 + 16);
  EXPECT_NE(result.str().find("the device waited for the host"), std::string::npos);
}

TEST_F(FakeCudaBench, TooLittleMemoryForTheFlushIsToldAtTheLine) {
  call();
  for (int nth = 1; nth <= 2;
       ++nth) // the cache of the runtime is trimmed and it is asked once more
    fakeCudaFail("cuMemAlloc_v2", nth, 2);
  try {
    (void)bench(stream_, [&] { call(); }, {.warmups = 0});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
    EXPECT_NE(error.file().find("BenchTest.cpp"), std::string::npos);
  }
  fakeCudaReset();
}

} // namespace
