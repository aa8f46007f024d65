// How often a kernel's lambda runs: once for each compile, however many threads ask and whatever is asked before.
#include "runtime/jit/Compile.h"
#include "tests/runtime/jit/Devices.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>

using namespace tile;
using namespace tile::test;

namespace {

std::atomic<int> traces = 0;

/// How many traces and compiles an action led to.
struct Work {
  int traces;
  uint64_t compiles;
  bool operator==(const Work &) const = default;
};
void PrintTo(const Work &work, std::ostream *out) {
  *out << work.traces << " traces, " << work.compiles << " compiles";
}

class TraceOnce : public OnDevice {
protected:
  template <class Act> Work workOf(Act act) {
    int before = traces;
    uint64_t compiled = compiles();
    act();
    return {traces - before, compiles() - compiled};
  }
  /// Copies in tiles of 64; a kernel of its own for each device and repetition.
  auto copyOf(const char *name) {
    static int run = 0;
    std::string key = name + std::to_string(run++);
    return kernel_capturing(key, key, [](In<f32, 1> x, Out<f32, 1> y) {
      ++traces;
      Value i = grid1d(y, {64});
      y.tile({64})(i) = x.tile({64})(i);
    });
  }
  TensorOf<float> ones(int64_t size) {
    auto tensor = device().tensor<float>({size});
    tensor.fill(1);
    return tensor;
  }
};
TILE_ON_EVERY_DEVICE(TraceOnce);

TEST_P(TraceOnce, AColdCallPrintsOnce) {
  static int run = 0;
  std::string key = "prints" + std::to_string(run++);
  auto prints = kernel_capturing(key, key, [](In<f32, 1> x, Out<f32, 1> y) {
    Value tile = x.tile({64})(0);
    trace_print("tile", tile);
    y.tile({64})(0) = tile;
  });
  auto x = ones(128), y = ones(128);
  testing::internal::CaptureStderr();
  prints.grid(1)(stream, x, y);
  prints.grid(1)(stream, x, y);
  std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1) << printed;
  EXPECT_NE(printed.find(": tile: f32[64]"), std::string::npos) << printed;
}

TEST_P(TraceOnce, EachSpecialisationRunsTheLambdaOnce) {
  auto copy = copyOf("specialisations");
  auto run = [&](int64_t size) {
    auto x = ones(size), y = ones(size);
    return workOf([&] { copy(stream, x, y); });
  };
  EXPECT_EQ(run(128), (Work{1, 1}));
  EXPECT_EQ(run(130), (Work{1, 1})) << "another divisibility";
  EXPECT_EQ(run(256), (Work{0, 0}));
  EXPECT_EQ(run(134), (Work{0, 0}));
}

TEST_P(TraceOnce, ATraceMadeForTheCheckOfOverlapServesTheCompile) {
  auto copy = copyOf("overlap");
  auto row = ones(256);
  auto overlapping = [&] { copy(stream, row.slice(0, 0, 128), row.slice(0, 64, 128)); };
  EXPECT_EQ(workOf([&] { EXPECT_EQ(errorOf(overlapping).code(), ErrorCode::Aliasing); }),
            (Work{1, 0}));
  EXPECT_EQ(workOf([&] { copy(stream, row.slice(0, 0, 128), row.slice(0, 128, 128)); }),
            (Work{0, 1}));
}

TEST_P(TraceOnce, ThreadsThatAskTogetherShareATrace) {
  auto copy = copyOf("threads");
  auto x = ones(130), aligned = ones(128);
  constexpr int kThreads = 16;
  std::barrier start(kThreads);
  Work work = workOf([&] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        auto &from = i % 2 ? x : aligned;
        auto to = device().tensor<float>({i % 2 ? 130 : 128});
        Stream own = device().stream();
        start.arrive_and_wait();
        copy(own, from, to);
        EXPECT_EQ(to.download(), from.download());
      });
  });
  EXPECT_EQ(work, (Work{2, 2})) << "two specialisations, of which one uses the first trace";
}

TEST_P(TraceOnce, AnotherThreadCompilesNothing) {
  auto copy = copyOf("other_thread");
  auto x = ones(64), y = ones(64);
  EXPECT_EQ(workOf([&] { copy(stream, x, y); }), (Work{1, 1}));
  stream.synchronize();
  EXPECT_EQ(workOf([&] { std::jthread([&] { copy(device().stream(), x, y); }); }), (Work{0, 0}))
      << "its recent calls are empty, the device's kernels are not";
}

TEST(RecentCalls, AKernelOfADeviceThatIsGoneIsNotMet) {
  static const auto twice = kernel("twice_gone", [](In<f32, 1> x, Out<f32, 1> y) {
    Value i = grid1d(y, {64});
    y.tile({64})(i) = x.tile({64})(i) * 2;
  });
  for (int round = 0; round < 3; ++round) {
    Device device = Device::wrap(device::openVirtual(), "virtual:brief");
    Stream stream = device.stream();
    auto x = device.tensor<float>({100}, ramp(100, 0)), y = device.tensor<float>({100});
    twice(stream, x, y);
    twice(stream, x, y);
    EXPECT_EQ(y.download()[99], 198) << "round " << round;
    EXPECT_EQ(jit::jitOf(*device.state()).compileCount(), 1u) << "each device has its own code";
  }
}

// --- Facts that the lambda itself sees -----------------------------------------------------------

std::vector<DType> strideTypes;

const auto rows = kernel("rows", [](In<f32, 2> x, Out<f32, 1> y) {
  strideTypes.push_back(x.stride(0).dtype());
  y.tile({128})(0) = sum(x.tile({128, 64})(0, 0), 1);
});

TEST(Compile, AKernelWhoseStridesWidenWithItsTilesIsTracedAgain) {
  codegen::CompileOptions options;
  options.keepStages = true;
  auto stageOf = [&](int64_t columns) {
    strideTypes.clear();
    KernelRequest request(rows, {exampleView(f32, {127, columns}), exampleView(f32, {127})});
    return jit::compileRequest(request, options).stages.front().second;
  };
  constexpr int64_t kNarrow = 1 << 20,
                    kWide = (1 << 24) + 1; // 127 rows stay below 2^31, 128 do not
  EXPECT_EQ(stageOf(kNarrow).find("tile.wide"), std::string::npos);
  EXPECT_EQ(strideTypes, (std::vector<DType>{i32}));
  EXPECT_NE(stageOf(kWide).find("tile.wide"), std::string::npos);
  EXPECT_EQ(strideTypes, (std::vector<DType>{i32, i64}));
}

TEST(Compile, ARequestIsTracedOnceWithTheFactsOfItsTiles) {
  static int count = 0;
  static const auto copy = kernel("copy_once", [](In<f32, 1> x, Out<f32, 1> y) {
    ++count;
    Value i = grid1d(y, {96});
    y.tile({96})(i) = x.tile({96})(i);
  });
  codegen::CompileOptions options;
  options.keepStages = true;
  KernelRequest request(copy, {exampleView(f32, {960}), exampleView(f32, {961})});
  std::string ir = jit::compileRequest(request, options).stages.front().second;
  EXPECT_EQ(count, 1);
  EXPECT_NE(ir.find("tile.extent_divisible = array<i64: 96>"), std::string::npos) << ir;
  EXPECT_NE(ir.find("tile.extent_divisible = array<i64: 1>"), std::string::npos) << ir;
}

} // namespace
