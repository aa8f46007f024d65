// bench() on the virtual GPU, which counts, and what it makes of samples.
#include "runtime/bench/MedianInterval.h"
#include "runtime/vgpu/VgpuDevice.h"
#include "tests/runtime/jit/Devices.h"

#include <tile/Bench.h>
#include <tile/ops/Matmul.h>

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

namespace tile {
namespace {

using test::errorOf;

const auto copyBlocks = kernel("copy_blocks", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i);
});

/// The probability that fewer than `place` of `count` fair coins show heads, by all their sums.
double fewerThan(size_t place, size_t count) {
  std::vector<double> ways = {1};
  for (size_t coin = 0; coin < count; ++coin) {
    std::vector<double> next(ways.size() + 1);
    for (size_t heads = 0; heads < ways.size(); ++heads)
      next[heads] += ways[heads] / 2, next[heads + 1] += ways[heads] / 2;
    ways = std::move(next);
  }
  double sum = 0;
  for (size_t heads = 0; heads < place; ++heads)
    sum += ways[heads];
  return sum;
}

TEST(MedianInterval, IsTheNarrowestThatHoldsTheMedianWith95Percent) {
  for (size_t count = 6; count <= 120; ++count) {
    size_t place = intervalPlace(count);
    EXPECT_LE(2 * fewerThan(place, count), 0.05) << count;
    EXPECT_GT(2 * fewerThan(place + 1, count), 0.05) << count;
  }
}

TEST(MedianInterval, FewSamplesGiveTheirExtremes) {
  for (size_t count = 1; count < 6; ++count)
    EXPECT_EQ(intervalPlace(count), 1u);
  MedianInterval three = medianIntervalOf(std::array{1.0, 2.0, 9.0});
  EXPECT_EQ(three.median, 2);
  EXPECT_EQ(three.lower, 1);
  EXPECT_EQ(three.upper, 9);
  EXPECT_EQ(medianIntervalOf(std::array{1.0, 2.0}).median, 1.5);
}

TEST(MedianInterval, ManySamplesDoNotUnderflow) {
  size_t place = intervalPlace(1'000'000);
  EXPECT_NEAR(static_cast<double>(place), 500'000 - 1.96 * 500, 2);
}

// Of a skewed distribution whose median is known.
TEST(MedianInterval, HoldsTheMedianAsOftenAsItSays) {
  std::mt19937 random(1);
  std::exponential_distribution<double> skewed(1);
  constexpr int kRuns = 4000, kSamples = 25;
  int held = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> samples(kSamples);
    for (double &sample : samples)
      sample = skewed(random);
    std::ranges::sort(samples);
    MedianInterval found = medianIntervalOf(samples);
    held += found.lower <= std::log(2.0) && std::log(2.0) <= found.upper;
  }
  EXPECT_GE(held, kRuns * 0.95);
  EXPECT_LE(held, kRuns * 0.98); // 95.7 % for 25 samples
}

TEST(Bench, CountsWhatOneCallDoesOnTheVirtualGpu) {
  Device device = Device::open("virtual:sm_80");
  Stream stream = device.stream();
  constexpr int64_t kCount = 8192, kBlock = 1024;
  auto x = device.tensor<float>({kCount}, std::vector<float>(kCount, 1)),
       y = device.tensor<float>({kCount});
  int calls = 0;
  BenchResult result = bench(stream, [&] {
    ++calls;
    copyBlocks.consts(kBlock)(stream, x, y);
    copyBlocks.consts(kBlock)(stream, y, x);
  });
  EXPECT_EQ(calls, 2) << "one to warm up, one that is counted";
  EXPECT_EQ(result.unit, BenchResult::Unit::Instructions);
  ASSERT_TRUE(result.counts);
  EXPECT_EQ(result.counts->launches, 2u);
  // Each launch reads all and writes all, every sector whole.
  EXPECT_EQ(result.counts->accessedBytes, 2u * 2 * kCount * sizeof(float));
  EXPECT_EQ(result.counts->distinctBytes, 2u * 2 * kCount * sizeof(float));
  EXPECT_EQ(result.counts->multiplyAdds, 0u);
  EXPECT_GT(result.counts->instructions, 0u);
  EXPECT_EQ(result.median, static_cast<double>(result.counts->instructions));
  EXPECT_EQ(result.samples, std::vector{result.median});
}

TEST(Bench, CountsOnlyTheCallAlsoUnderTheLazySchedule) {
  Device device = Device::wrap(device::openVirtual({.schedule = "lazy"}), "lazy");
  Stream stream = device.stream(), other = device.stream();
  auto x = device.tensor<float>({1024}, std::vector<float>(1024, 1)),
       y = device.tensor<float>({1024}), z = device.tensor<float>({1024});
  auto measure = [&] {
    return bench(stream, [&] { copyBlocks.consts(128)(stream, x, y); })
        .counts.value_or(WorkCounts())
        .instructions;
  };
  uint64_t alone = measure();
  copyBlocks.consts(128)(other, x, z); // given before, done only when somebody waits
  EXPECT_EQ(measure(), alone);
}

TEST(Bench, CountsProductsAndBankConflicts) {
  Device device = Device::open("virtual:sm_80");
  Stream stream = device.stream();
  auto a = device.tensor<half>({64, 64}, std::vector<half>(64 * 64, half(1)));
  auto c = device.tensor<half>({64, 64});
  BenchResult result = bench(stream, [&] { ops::matmul(stream, a, a, c); });
  ASSERT_TRUE(result.counts);
  EXPECT_GE(result.counts->multiplyAdds, 64u * 64 * 64);
  EXPECT_GT(result.counts->copiedBytes, 0u) << "cp.async fills the slots";
  EXPECT_EQ(result.counts->bankConflicts, 0u);
}

TEST(Bench, CountersAreAsTheyWereAlsoAfterAnError) {
  auto device = device::openVirtual();
  auto virtualDevice = vgpu::asVirtual(device);
  Device wrapped = Device::wrap(device, "counted");
  Stream stream = wrapped.stream();
  auto x = wrapped.tensor<float>({1024}, std::vector<float>(1024, 1)),
       y = wrapped.tensor<float>({1024});
  auto call = [&] { copyBlocks.consts(128)(stream, x, y); };
  int calls = 0;
  EXPECT_THROW(bench(stream,
                     [&] {
                       if (++calls == 2)
                         throw std::runtime_error("by the call");
                     }),
               std::runtime_error);
  call();
  EXPECT_EQ(virtualDevice->counters().warpInstructions, 0u) << "nobody asked for counters";

  virtualDevice->setCounters(true);
  call();
  uint64_t once = virtualDevice->counters().warpInstructions;
  EXPECT_EQ(bench(stream, call).median, static_cast<double>(once));
  call();
  EXPECT_EQ(virtualDevice->counters().warpInstructions, 4 * once) << "counters stay on and go on";
}

TEST(Bench, NeverPretendsATime) {
  Device device = Device::open("virtual:sm_80");
  Stream stream = device.stream();
  auto x = device.tensor<float>({1024}, std::vector<float>(1024, 1)),
       y = device.tensor<float>({1024});
  BenchResult result = bench(stream, [&] { copyBlocks.consts(128)(stream, x, y); });
  EXPECT_NE(result.str().find("warp instructions in 1 launch, 8192 bytes loaded and stored"),
            std::string::npos)
      << result;
  EXPECT_NE(result.str().find("(virtual GPU: counted, not timed)"), std::string::npos);
  EXPECT_EQ(result.str().find(" ms"), std::string::npos);
  EXPECT_EQ(errorOf([&] { (void)result.milliseconds(); }).code(), ErrorCode::Unsupported);
}

TEST(Bench, TellsTimesInWords) {
  BenchResult result;
  result.median = 0.09831, result.lower = 0.09814, result.upper = 0.09856;
  result.samples.assign(20, 0.09831);
  EXPECT_EQ(result.str(), "98.31 us (95 %: 98.14 to 98.56, 20 samples)");
  EXPECT_EQ(result.milliseconds(), 0.09831);
  result.callsPerSample = 4, result.isHostBound = true;
  EXPECT_EQ(result.str(),
            "98.31 us (95 %: 98.14 to 98.56, 20 samples of 4 calls; the device waited "
            "for the host)");
  BenchResult one;
  one.median = one.lower = one.upper = 2500;
  one.samples = {2500};
  std::ostringstream out;
  out << one;
  EXPECT_EQ(out.str(), "2.5 s (all samples: 2.5 to 2.5, 1 sample)");
}

TEST(Bench, OptionsThatMakeNoSenseAreNamed) {
  Stream stream = Device::open("virtual:sm_80").stream();
  auto messageOf = [&](const BenchOptions &options) {
    return errorOf([&] {
             (void)bench(
                 stream, [] {}, options);
           })
        .message();
  };
  EXPECT_EQ(messageOf({.warmups = -1}), "bench: warmups must not be negative");
  EXPECT_EQ(messageOf({.precision = 0}), "bench: precision must be above 0, as 0.01 for 1 %");
  EXPECT_EQ(messageOf({.precision = NAN}), "bench: precision must be above 0, as 0.01 for 1 %");
  EXPECT_EQ(messageOf({.minSamples = 0}), "bench: minSamples must be at least 1");
  EXPECT_EQ(messageOf({.maxSeconds = 0}), "bench: maxSeconds must be above 0");
  EXPECT_EQ(messageOf({.callsPerSample = -1}), "bench: callsPerSample must not be negative");
  Error empty = errorOf([&] { (void)bench(stream, nullptr); });
  EXPECT_EQ(empty.message(), "bench: there is no call to measure: the function is empty");
  EXPECT_NE(empty.file().find("BenchTest.cpp"), std::string::npos);
  EXPECT_EQ(errorOf([] { (void)bench(Stream(), [] {}); }).code(), ErrorCode::InvalidHandle);
}

class BenchOnDevice : public test::OnDevice {};

TEST_P(BenchOnDevice, MoreWorkMeasuresMore) {
  auto measure = [&](int64_t count) {
    auto x = device().tensor<float>({count}, std::vector<float>(static_cast<size_t>(count), 1)),
         y = device().tensor<float>({count});
    BenchResult result = bench(stream, [&] { copyBlocks.consts(1024)(stream, x, y); });
    EXPECT_EQ(result.unit, device().isVirtual() ? BenchResult::Unit::Instructions
                                                : BenchResult::Unit::Milliseconds);
    EXPECT_LE(result.lower, result.median);
    EXPECT_LE(result.median, result.upper);
    return result.median;
  };
  double little = measure(1 << 14);
  EXPECT_GT(little, 0);
  EXPECT_GT(measure(device().isVirtual() ? 1 << 16 : 1 << 24), 2 * little);
}
TILE_ON_EVERY_DEVICE(BenchOnDevice);

} // namespace
} // namespace tile
