// Launches on the CUDA device: shapes, parameters and attributes as the driver gets them.
#include "tests/runtime/device/fakecuda/FakeDevice.h"

#include <cstring>

namespace tile::device {
namespace {

using Calls = std::vector<std::string>;

// Arguments for kKernels' scale.
struct ScaleArguments {
  uint64_t pointer = 0x1122334455667788;
  float factor = 2.5f;
  uint16_t half = 0xabcd;
  unsigned char bytes[24] = {1, 2, 3};
  std::vector<Arg> list() const { return {{&pointer, 8}, {&factor, 4}, {&half, 2}, {bytes, 24}}; }
};

template <class T> T valueOf(const std::vector<unsigned char> &bytes) {
  T value{};
  EXPECT_EQ(bytes.size(), sizeof value);
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

TEST_F(FakeCuda, ALaunchIsOneCallOfTheDriver) {
  Function function = scale();
  ScaleArguments arguments;
  fakeCudaReset();
  device->launch(function, {{7, 2, 3}, {64, 2, 1}, {}, 1024}, arguments.list());
  EXPECT_EQ(fakeCudaCalls(), (Calls{"cuLaunchKernelEx"}));
  ASSERT_EQ(fakeCudaLaunches().size(), 1u);
  const FakeLaunch &launch = fakeCudaLaunches()[0];
  EXPECT_EQ(launch.kernel, "scale");
  EXPECT_EQ(std::vector(launch.grid, launch.grid + 3), (std::vector<unsigned>{7, 2, 3}));
  EXPECT_EQ(std::vector(launch.block, launch.block + 3), (std::vector<unsigned>{64, 2, 1}));
  EXPECT_EQ(launch.sharedBytes, 1024u);
  EXPECT_FALSE(launch.hasCluster);
  EXPECT_FALSE(launch.isProgrammatic);
  EXPECT_EQ(launch.stream, nullptr);
  ASSERT_EQ(launch.params.size(), 4u);
  EXPECT_EQ(valueOf<uint64_t>(launch.params[0]), arguments.pointer);
  EXPECT_EQ(valueOf<float>(launch.params[1]), arguments.factor);
  EXPECT_EQ(valueOf<uint16_t>(launch.params[2]), arguments.half);
  EXPECT_EQ(launch.params[3], std::vector(arguments.bytes, arguments.bytes + 24));
}

TEST_F(FakeCuda, ManyParametersArrive) {
  constexpr uint32_t kCount = 200;
  std::string ptx = ".version 8.0\n.target sm_80\n.visible .entry many(";
  std::vector<uint32_t> values(kCount);
  std::vector<Arg> args;
  for (uint32_t i = 0; i < kCount; ++i) {
    ptx += (i ? ", .param .u32 p" : ".param .u32 p") + std::to_string(i);
    values[i] = 3 * i;
    args.push_back({&values[i], 4});
  }
  device->launch(device->getFunction(device->loadModule(ptx + ") { ret; }"), "many"), {}, args);
  ASSERT_EQ(fakeCudaLaunches().size(), 1u);
  ASSERT_EQ(fakeCudaLaunches()[0].params.size(), kCount);
  for (uint32_t i = 0; i < kCount; ++i)
    EXPECT_EQ(valueOf<uint32_t>(fakeCudaLaunches()[0].params[i]), 3 * i);
}

TEST_F(FakeCuda, WrongArgumentsNeverReachTheDriver) {
  Function function = scale();
  Function nothing = device->getFunction(device->loadModule(kKernels), "nothing");
  ScaleArguments arguments;
  std::vector<Arg> tooFew = arguments.list(), wrongSize = arguments.list(), null = arguments.list();
  tooFew.pop_back();
  wrongSize[1].size = 8;
  null[2].data = nullptr;
  fakeCudaReset();
  auto refuse = [&](Function which, const std::vector<Arg> &args, std::vector<std::string> parts) {
    expectError(ErrorCode::InvalidArgument, parts, [&] { device->launch(which, {}, args); });
  };
  refuse(function, tooFew, {"launch of scale", "3 arguments", "4 parameters"});
  refuse(function, wrongSize, {"argument 1", "8 bytes", "has 4"});
  refuse(function, null, {"argument 2", "no data"});
  refuse(nothing, arguments.list(), {"4 arguments", "0 parameters"});
  EXPECT_EQ(fakeCudaCalls(), Calls());
  EXPECT_NO_THROW(device->launch(nothing, {}, {}));
}

TEST_F(FakeCuda, WrongShapesThrowAndRunNothing) {
  Function function = device->getFunction(device->loadModule(kKernels), "nothing");
  const LaunchConfig shapes[] = {{{0, 1, 1}, {32}, {}, 0},    {{1}, {0, 1, 1}, {}, 0},
                                 {{1}, {1025}, {}, 0},        {{1}, {1024, 2, 1}, {}, 0},
                                 {{1, 65536, 1}, {1}, {}, 0}, {{3, 1, 1}, {32}, {2}, 0},
                                 {{4}, {32}, {0, 1, 1}, 0}};
  for (const LaunchConfig &shape : shapes)
    expectError(ErrorCode::InvalidArgument, {"launch of nothing (grid "},
                [&] { device->launch(function, shape, {}); });
  EXPECT_TRUE(fakeCudaLaunches().empty());
  EXPECT_NO_THROW(device->launch(function, {}, {}));
}

TEST_F(FakeCuda, MuchSharedMemoryIsAllowedOnceAFunction) {
  constexpr const char *kSet = "cuFuncSetAttribute";
  Function function = device->getFunction(device->loadModule(kKernels), "nothing");
  auto launchWith = [&](uint32_t bytes) { device->launch(function, {{1}, {32}, {}, bytes}, {}); };
  launchWith(48 * 1024);
  EXPECT_EQ(timesCalled(kSet), 0u);
  launchWith(100 * 1024);
  launchWith(100 * 1024);
  launchWith(64 * 1024);
  EXPECT_EQ(timesCalled(kSet), 1u);
  launchWith(227 * 1024);
  launchWith(227 * 1024);
  EXPECT_EQ(timesCalled(kSet), 2u);
  expectError(ErrorCode::ResourceExceeded, {"232449 bytes", "232448"},
              [&] { launchWith(227 * 1024 + 1); });
  EXPECT_EQ(fakeCudaLaunches().size(), 6u);
}

TEST_F(FakeCuda, StaticSharedMemoryCountsTowardsTheLimits) {
  Function function = scale(); // 4 KB static
  ScaleArguments arguments;
  auto launchWith = [&](uint32_t bytes) {
    device->launch(function, {{1}, {32}, {}, bytes}, arguments.list());
  };
  launchWith(44 * 1024);
  EXPECT_EQ(timesCalled("cuFuncSetAttribute"), 0u);
  launchWith(46 * 1024);
  EXPECT_EQ(timesCalled("cuFuncSetAttribute"), 1u);
  launchWith(223 * 1024);
  expectError(ErrorCode::ResourceExceeded, {"4096 bytes of static", "232448"},
              [&] { launchWith(224 * 1024); });
  EXPECT_EQ(fakeCudaLaunches().size(), 3u);
}

TEST_F(FakeCuda, ARefusedAllowanceIsAskedForAgain) {
  Function function = device->getFunction(device->loadModule(kKernels), "nothing");
  LaunchConfig big{{1}, {32}, {}, 100 * 1024};
  fakeCudaFail("cuFuncSetAttribute", 1, 1);
  expectError(ErrorCode::InvalidArgument, {"102400 bytes"},
              [&] { device->launch(function, big, {}); });
  EXPECT_NO_THROW(device->launch(function, big, {}));
}

TEST_F(FakeCuda, ClustersAreAnAttribute) {
  Function function = device->getFunction(device->loadModule(kKernels), "nothing");
  device->launch(function, {{4, 2, 1}, {32}, {2, 2, 1}, 0}, {});
  device->launch(function, {{16}, {32}, {16}, 0}, {});
  device->launch(function, {{16}, {32}, {16}, 0}, {});
  ASSERT_EQ(fakeCudaLaunches().size(), 3u);
  const FakeLaunch &first = fakeCudaLaunches()[0];
  EXPECT_TRUE(first.hasCluster);
  EXPECT_EQ(std::vector(first.cluster, first.cluster + 3), (std::vector<unsigned>{2, 2, 1}));
  EXPECT_EQ(fakeCudaLaunches()[1].cluster[0], 16u);
  EXPECT_EQ(timesCalled("cuFuncSetAttribute"), 1u) << "more than 8 blocks, once";
}

TEST_F(FakeCuda, DependentLaunchesAreAnAttribute) {
  Function function = device->getFunction(device->loadModule(kKernels), "nothing");
  Stream stream = device->createStream();
  LaunchConfig config{{2}, {32}, {2}, 0};
  config.programmaticDependent = true;
  device->launch(function, config, {}, stream);
  ASSERT_EQ(fakeCudaLaunches().size(), 1u);
  EXPECT_TRUE(fakeCudaLaunches()[0].isProgrammatic);
  EXPECT_TRUE(fakeCudaLaunches()[0].hasCluster);
  EXPECT_NE(fakeCudaLaunches()[0].stream, nullptr);
}

} // namespace
} // namespace tile::device
