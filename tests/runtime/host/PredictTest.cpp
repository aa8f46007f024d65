// predict(): launches on the virtual GPU whose time is asked for.
#include "tests/runtime/jit/Devices.h"

#include <tile/Graph.h>
#include <tile/Predict.h>
#include <tile/ops/Attention.h>
#include <tile/ops/Matmul.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace tile {
namespace {

using test::errorOf;
using test::ramp;

const auto doubled = kernel("doubled", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * 2.f;
});
constexpr int kLineOfProduct = __LINE__ - 2;

// The way of the loop depends on what lies in memory.
const auto sumBelow = kernel("sum_below", [](In<i32, 1> x, Out<i32, 1> y) {
                        auto total = var(0);
                        for (auto k : range(sum(x.tile({1})(0))))
                          total += k;
                        y.tile({1})(0) = zeros(i32, {1}) + total;
                      }).named("x", "y");

/// An estimate alone: no test may depend on whether there is an assembler.
constexpr PredictOptions kEstimated = {.assembles = false};

class Predict : public testing::Test {
protected:
  Device device = Device::open("virtual:sm_90a");
  Stream stream = device.stream();
};

TEST_F(Predict, KernelsDoNotRunAndLaterOnesDo) {
  auto x = device.tensor<float>({1000}, ramp(1000, 1)), y = device.tensor<float>({1000});
  doubled.consts(256)(stream, x, y);
  y.upload(ramp(1000, 5));
  Prediction one = predict(stream, doubled.consts(256), x, y);
  EXPECT_EQ(y.download(), ramp(1000, 5));
  ASSERT_EQ(one.launches.size(), 1u);
  EXPECT_EQ(one.launches[0].kernel, "doubled");
  EXPECT_EQ(one.launches[0].grid[0], 4u);
  EXPECT_GT(one.us(), 1);
  EXPECT_LT(one.us(), 20);
  doubled.consts(256)(stream, x, y);
  stream.synchronize();
  EXPECT_EQ(y.download()[9], 20);
}

TEST_F(Predict, MoreBytesTakeLonger) {
  auto timeOf = [&](int64_t count) {
    auto x = device.tensor<float>({count}), y = device.tensor<float>({count});
    return predict(stream, doubled.consts(1024), x, y);
  };
  Prediction few = timeOf(1 << 20), many = timeOf(1 << 24);
  // 128 MB at the 2 to 3.4 TB/s that an H100 has.
  double least = 128e6 / 3.4e6, most = 128e6 / 2e6;
  EXPECT_GT(many.us(), least);
  EXPECT_LT(many.us(), most);
  EXPECT_GT(many.cycles(), 4 * few.cycles());
  EXPECT_EQ(many.launches[0].bound, "DRAM");
  const PredictedStall &stall = many.launches[0].stalls.at(0);
  EXPECT_EQ(stall.reason, "operand"); // what is loaded
  EXPECT_EQ(stall.file + ":" + std::to_string(stall.line),
            "tests/runtime/host/PredictTest.cpp:" + std::to_string(kLineOfProduct));
}

TEST_F(Predict, ProductsAreBoundByTensorCores) {
  auto a = device.tensor<bfloat16>({2048, 2048}), b = device.tensor<bfloat16>({2048, 2048}),
       c = device.tensor<bfloat16>({2048, 2048});
  Prediction product = predict(
      device, [&] { ops::matmul(stream, a, b, c); }, kEstimated);
  ASSERT_FALSE(product.launches.empty());
  const PredictedLaunch &launch = product.launches[0];
  EXPECT_TRUE(product.isCalibrated());
  EXPECT_EQ(launch.calibration, "h100-sxm");
  // Between the peak of the card and half of it.
  double flops = 2.0 * 2048 * 2048 * 2048;
  EXPECT_GT(product.us(), flops / 989e6);
  EXPECT_LT(product.us(), flops / 490e6 + 10);
  ASSERT_FALSE(launch.busy.empty());
  EXPECT_EQ(launch.busy[0].name, "tensor");
  EXPECT_TRUE(launch.registersAreEstimated);
  ASSERT_FALSE(launch.stalls.empty());
  EXPECT_GT(launch.stalls[0].line, 0);
  double all = 0;
  for (const PredictedStall &stall : launch.stalls)
    all += stall.share;
  EXPECT_NEAR(all, 1, 1e-6);
}

TEST_F(Predict, CausalAttentionTakesLessThanFull) {
  std::vector<int64_t> shape = {2, 16, 2048, 64}; // several blocks a multiprocessor
  auto q = device.tensor<bfloat16>(shape), k = device.tensor<bfloat16>(shape),
       v = device.tensor<bfloat16>(shape), o = device.tensor<bfloat16>(shape);
  auto timeOf = [&](bool isCausal) {
    return predict(
        device, [&] { ops::attention(stream, q, k, v, o, {.causal = isCausal}); }, kEstimated);
  };
  Prediction full = timeOf(false), causal = timeOf(true);
  ASSERT_FALSE(full.launches.empty());
  EXPECT_LT(causal.cycles(), full.cycles());
}

TEST_F(Predict, LaunchesAreInOrderAndAddUp) {
  auto x = device.tensor<float>({4096}), y = device.tensor<float>({4096});
  Prediction three = predict(device, [&] {
    doubled.consts(1024)(stream, x, y);
    doubled.consts(256)(stream, x, y);
    doubled.consts(512)(stream, x, y);
  });
  ASSERT_EQ(three.launches.size(), 3u);
  double us = 0, cycles = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(three.launches[i].grid[0], (std::array{4u, 16u, 8u})[i]);
    us += three.launches[i].us, cycles += three.launches[i].cycles;
  }
  EXPECT_DOUBLE_EQ(three.us(), us);
  EXPECT_DOUBLE_EQ(three.cycles(), cycles);
  EXPECT_NE(three.str().find("3 launches: "), std::string::npos);
  EXPECT_EQ(predict(device, [] {}).str(), "no kernel was launched\n");
}

TEST_F(Predict, OtherCardsAreUncalibrated) {
  Device other = Device::open("virtual:sm_80");
  auto x = other.tensor<float>({4096}), y = other.tensor<float>({4096});
  Prediction prediction = predict(other.stream(), doubled.consts(256), x, y);
  ASSERT_EQ(prediction.launches.size(), 1u);
  EXPECT_FALSE(prediction.isCalibrated());
  EXPECT_NE(prediction.str().find("uncalibrated"), std::string::npos);
  EXPECT_EQ(predict(device, [] {}).isCalibrated(), true);
}

TEST_F(Predict, WhatIsAssumedIsSaid) {
  auto x = device.tensor<int32_t>({1}), y = device.tensor<int32_t>({1});
  Prediction prediction = predict(device, [&] { sumBelow.grid(1)(stream, x, y); });
  ASSERT_EQ(prediction.launches.size(), 1u);
  ASSERT_FALSE(prediction.launches[0].assumptions.empty());
  EXPECT_NE(prediction.launches[0].assumptions[0].find("depends on data"), std::string::npos);
  EXPECT_NE(prediction.str().find("assumed"), std::string::npos);
}

TEST_F(Predict, TheSameOnEachCallAndWithAClockOfTheUsers) {
  auto x = device.tensor<float>({1 << 20}), y = device.tensor<float>({1 << 20});
  auto run = [&] { doubled.consts(1024)(stream, x, y); };
  EXPECT_EQ(predict(device, run, kEstimated).cycles(), predict(device, run, kEstimated).cycles());
  Prediction slow = predict(device, run, {.clockGhz = 1.0, .assembles = false});
  EXPECT_EQ(slow.launches[0].clockGhz, 1.0);
  EXPECT_LT(slow.cycles(), predict(device, run, kEstimated).cycles());
  EXPECT_LE(predict(device, run, {.isDirty = false, .assembles = false}).us(),
            predict(device, run, kEstimated).us());
}

TEST_F(Predict, OtherThreadsLaunchAsEver) {
  auto x = device.tensor<float>({64}, ramp(64, 1)), y = device.tensor<float>({64}),
       z = device.tensor<float>({64});
  Prediction prediction = predict(device, [&] {
    doubled.consts(64)(stream, x, z);
    std::thread([&] {
      Stream own = device.stream();
      doubled.consts(64)(own, x, y);
      own.synchronize();
    }).join();
  });
  EXPECT_EQ(prediction.launches.size(), 1u);
  EXPECT_EQ(y.download()[0], 2);
}

TEST_F(Predict, ReplaysOfGraphsArePredicted) {
  auto x = device.tensor<float>({64}, ramp(64, 1)), y = device.tensor<float>({64}, ramp(64, 3));
  Graph graph = Graph::capture(stream, [&] { doubled.consts(64)(stream, x, y); });
  EXPECT_EQ(predict(device, [&] { graph.replay(stream); }).launches.size(), 1u);
  EXPECT_EQ(y.download()[0], 3);
  EXPECT_EQ(errorOf([&] { Graph::capture(stream, [&] { predict(device, [] {}); }); }).code(),
            ErrorCode::NotPreparedForCapture);
}

TEST_F(Predict, WorkThatWaitsForItsTurnIsPredictedToo) {
  device::VirtualOptions options;
  options.target = "sm_90a", options.schedule = "lazy";
  Device lazy = Device::wrap(device::openVirtual(options), "lazy");
  Stream own = lazy.stream();
  auto x = lazy.tensor<float>({64}, ramp(64, 1)), y = lazy.tensor<float>({64}, ramp(64, 3));
  doubled.consts(64)(own, x, y); // given before, so it runs
  Prediction prediction = predict(lazy, [&] { doubled.consts(64)(own, y, x); });
  EXPECT_EQ(prediction.launches.size(), 1u);
  EXPECT_EQ(y.download()[1], 4);
  EXPECT_EQ(x.download()[1], 2);
}

TEST_F(Predict, MistakesAreErrorsAndEndIt) {
  auto x = device.tensor<float>({64}, ramp(64, 1)), y = device.tensor<float>({64});
  Error error = errorOf([&] { predict(device, nullptr); });
  EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
  EXPECT_NE(std::string(error.what()).find("PredictTest.cpp"), std::string::npos);
  error = errorOf([&] { predict(device, [] {}, {.clockGhz = 0.0}); });
  EXPECT_NE(error.message().find("clockGhz must be above 0"), std::string::npos);
  EXPECT_THROW(predict(device, [] { throw std::runtime_error("own"); }), std::runtime_error);
  // Launches run again.
  doubled.consts(64)(stream, x, y);
  stream.synchronize();
  EXPECT_EQ(y.download()[3], 8);
}

TEST_F(Predict, JsonHasAllOfIt) {
  auto x = device.tensor<float>({4096}), y = device.tensor<float>({4096});
  Prediction prediction = predict(stream, doubled.consts(256), x, y);
  auto json = nlohmann::json::parse(prediction.json());
  EXPECT_EQ(json["us"], prediction.us());
  const auto &launch = json["launches"][0];
  EXPECT_EQ(launch["kernel"], "doubled");
  EXPECT_EQ(launch["grid"], (std::array{16, 1, 1}));
  EXPECT_EQ(launch["cycles"], prediction.cycles());
  EXPECT_EQ(launch["stalls"].size(), prediction.launches[0].stalls.size());
  EXPECT_EQ(launch["is_calibrated"], true);
  EXPECT_NE(launch["calibration_version"], "");
}

} // namespace
} // namespace tile
