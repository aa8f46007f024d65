// Which calls share code, and that concurrent callers compile once.
#include "runtime/jit/Jit.h"
#include "tests/runtime/jit/Devices.h"

#include <barrier>
#include <thread>

using namespace tile;
using namespace tile::test;

namespace {

class Specialize : public OnDevice {};
TILE_ON_EVERY_DEVICE(Specialize);

template <class T> auto scaleOf(const char *name) {
  return kernel_capturing(
      name, name, [](In<any, 1> x, Out<any, 1> y, Scalar<f32> factor, Const block) {
        Value i = grid1d(y, {block});
        y.tile({block})(i) = cast(y.dtype(), cast(f32, x.tile({block})(i)) * factor);
      });
}

TEST_P(Specialize, CompilesExactlyWhenTheKeyChanges) {
  static int run = 0; // a kernel of its own for each device and repetition
  auto scale = scaleOf<int>(("scale" + std::to_string(run++)).c_str());
  auto count = [&](auto &&launch) {
    uint64_t before = compiles();
    launch();
    return compiles() - before;
  };
  auto call = [&](auto type, int64_t size, int block, int64_t shift = 0, int warps = 4) {
    using T = decltype(type);
    auto x = device().tensor<T>({size + shift}), y = device().tensor<T>({size + shift});
    x.fill(T(1));
    return count([&] {
      scale.consts(block).warps(warps)(stream, x.slice(0, shift, size), y.slice(0, shift, size),
                                       2.0f);
    });
  };
  EXPECT_EQ(call(0.0f, 1024, 256), 1u);
  EXPECT_EQ(call(0.0f, 1024, 256), 0u) << "the same call";
  EXPECT_EQ(call(0.0f, 2048, 256), 0u) << "another multiple of the tile";
  EXPECT_EQ(call(0.0f, 1008, 256), 1u) << "16 divides it, the tile does not";
  EXPECT_EQ(call(0.0f, 1040, 256), 0u);
  EXPECT_EQ(call(0.0f, 1000, 256), 1u) << "8 divides it";
  EXPECT_EQ(call(0.0f, 1001, 256), 1u) << "odd";
  EXPECT_EQ(call(0.0f, 1003, 256), 0u);
  EXPECT_EQ(call(half(), 1024, 256), 1u) << "another dtype";
  EXPECT_EQ(call(0.0f, 1024, 128), 1u) << "another constant";
  EXPECT_EQ(call(0.0f, 1024, 256, 1), 1u) << "another alignment";
  EXPECT_EQ(call(0.0f, 1024, 256, 3), 0u);
  EXPECT_EQ(call(0.0f, 1024, 256, 0, 2), 1u) << "another number of warps";
}

TEST_P(Specialize, EachSettingHasCodeOfItsOwn) {
  static int run = 0;
  auto scale = scaleOf<int>(("settings" + std::to_string(run++)).c_str()).consts(64);
  auto x = device().tensor<float>({100}, ramp(100, 1)), y = device().tensor<float>({100});
  auto expectCompiles = [&](const char *setting, const auto &launcher) {
    for (uint64_t expected : {1, 0}) {
      uint64_t before = compiles();
      y.fill(0);
      launcher(stream, x, y, 2.0f);
      EXPECT_EQ(compiles() - before, expected) << setting;
      EXPECT_EQ(y.download()[99], 200) << setting;
    }
  };
  expectCompiles("none", scale);
  expectCompiles("warps", scale.warps(2));
  expectCompiles("maxnreg", scale.maxnreg(64));
  expectCompiles("another maxnreg", scale.maxnreg(128));
  expectCompiles("occupancy", scale.occupancy(2));
  expectCompiles("fp_fusion", scale.fp_fusion(false));
  expectCompiles("ftz", scale.ftz());
  expectCompiles("no_assume", scale.no_assume());
  if (const char *all = std::getenv("TILE_CHECKED"); !all || !*all || *all == '0')
    expectCompiles("checked", scale.checked());
}

TEST_P(Specialize, ValuesThatAKernelAsksForAreInTheKey) {
  static int run = 0;
  std::string name = "asks" + std::to_string(run++);
  auto asks = kernel_capturing(
      name, name, [](In<f32, 1> x, Out<f32, 1> y, Scalar<i32> n, Scalar<i32> m, Scalar<i32> open) {
        int tile = specialize(n), more = tile > 32 ? int(specialize(m)) : 0;
        Value i = grid1d(y, {tile});
        y.tile({tile})(i) = x.tile({tile})(i) + more + open;
      });
  auto call = [&](int64_t size, int n, int m, int open) {
    uint64_t before = compiles();
    auto x = device().tensor<float>({size}, ramp(size, 1)), y = device().tensor<float>({size});
    asks(stream, x, y, n, m, open);
    std::vector<float> expected = ramp(size, 1);
    for (float &each : expected)
      each += static_cast<float>((n > 32 ? m : 0) + open);
    EXPECT_EQ(y.download(), expected) << n << " " << m << " " << open;
    return compiles() - before;
  };
  EXPECT_EQ(call(64, 32, 1, 0), 1u);
  EXPECT_EQ(call(64, 32, 1, 5), 0u) << "an argument that is not asked for";
  EXPECT_EQ(call(64, 32, 2, 5), 0u) << "an argument that is not asked for at this value of n";
  EXPECT_EQ(call(64, 64, 2, 5), 1u) << "another value";
  EXPECT_EQ(call(64, 64, 3, 5), 1u) << "another value of what this value leads to";
  EXPECT_EQ(call(64, 64, 2, 5), 0u);
  EXPECT_EQ(call(64, 32, 3, 0), 0u);
  EXPECT_EQ(call(80, 32, 3, 0), 1u) << "the tile of this value does not divide the extent";
  EXPECT_EQ(call(128, 64, 2, 0), 0u) << "each value has its own tiles";
}

TEST_P(Specialize, ExtentsThatAKernelAsksForAreInTheKey) {
  static int run = 0;
  std::string name = "asks_extent" + std::to_string(run++);
  auto rows = kernel_capturing(name, name, [](In<f32, 2> x, Out<f32, 1> y) {
    int columns = specialize(x.dim(1));
    Value row = grid1d(y, {1}), sum = zeros(f32, {1});
    for (int column = 0; column < columns; ++column)
      sum = sum + reshape(x.tile({1, 1})(row, column), {1});
    y.tile({1})(row) = sum;
  });
  auto call = [&](int64_t count, int64_t columns) {
    uint64_t before = compiles();
    auto x = device().tensor<float>({count, columns}), y = device().tensor<float>({count});
    x.fill(1);
    rows(stream, x, y);
    EXPECT_EQ(y.download(), std::vector<float>(static_cast<size_t>(count), float(columns)));
    return compiles() - before;
  };
  EXPECT_EQ(call(4, 3), 1u);
  EXPECT_EQ(call(12, 3), 0u);
  EXPECT_EQ(call(4, 5), 1u);
  EXPECT_EQ(call(4, 3), 0u);
}

TEST_P(Specialize, ADivisibleKernelIsNotUsedForOtherSizes) {
  auto scale = scaleOf<int>("scale_sizes");
  for (int64_t size : {512, 511, 512, 500, 1}) {
    auto x = device().tensor<float>({size}, ramp(size, 1)),
         y = device().tensor<float>({size + 300});
    y.fill(-1);
    scale.consts(256)(stream, x, y.slice(0, 0, size), 3.0f);
    std::vector<float> result = y.download();
    for (int64_t i = 0; i < size + 300; ++i)
      ASSERT_EQ(result[i], i < size ? 3.0f * (1 + i) : -1.0f) << "size " << size << " at " << i;
  }
}

// --- Concurrency ---------------------------------------------------------------------------------

template <class F> void inThreads(int count, F body) {
  std::barrier start(count);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
}

TEST_P(Specialize, SixteenThreadsCompileOnce) {
  auto scale = scaleOf<int>("scale_threads");
  auto x = device().tensor<float>({777}, ramp(777, 0));
  std::vector<TensorOf<float>> results;
  for (int i = 0; i < 16; ++i)
    results.push_back(device().tensor<float>({777}));
  uint64_t before = compiles();
  inThreads(16, [&](int i) {
    Stream own = device().stream();
    scale.consts(64)(own, x, results[i], 2.0f);
    own.synchronize();
  });
  EXPECT_EQ(compiles(), before + 1);
  for (auto &result : results)
    EXPECT_EQ(result.download()[776], 1552);
}

TEST_P(Specialize, OneFailureAmongSixteenKernelsStaysAlone) {
  auto kernelOf = [](bool isBad, int index) {
    std::string name = "own" + std::to_string(index);
    return kernel_capturing(name, name, [isBad](In<f32, 1> x, Out<f32, 1> y) {
      require(!isBad, "this kernel is refused");
      Value i = grid1d(y, {64});
      y.tile({64})(i) = x.tile({64})(i) + 1.0f;
    });
  };
  auto x = device().tensor<float>({100}, ramp(100, 0));
  std::atomic<int> failures = 0, successes = 0;
  inThreads(16, [&](int i) {
    auto y = device().tensor<float>({100});
    Stream own = device().stream();
    try {
      kernelOf(i == 5, i)(own, x, y);
      successes += y.download()[99] == 100;
    } catch (const Error &error) {
      failures += i == 5 && error.message().find("this kernel is refused") != std::string::npos;
    }
  });
  EXPECT_EQ(successes, 15);
  EXPECT_EQ(failures, 1);
}

// 2048 registers a thread: more than any target has.
auto huge = kernel("huge", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c) {
  auto [m, n] = grid2d(c, {512, 512});
  auto sums = var(zeros(f32, {512, 512}));
  for (auto k : range(cdiv(a.dim(1), 512)))
    sums = dot(a.tile({512, 512})(m, k), b.tile({512, 512})(k, n), sums);
  c.tile({512, 512})(m, n) = sums;
});

TEST_P(Specialize, AFailedCompileReachesAllWhoWaitAndIsTriedAgain) {
  auto a = device().tensor<half>({512, 512}), b = device().tensor<half>({512, 512});
  auto c = device().tensor<float>({512, 512});
  std::atomic<int> failures = 0;
  inThreads(4, [&](int) {
    try {
      huge.prepare(device(), a, b, c);
    } catch (const Error &error) {
      failures += error.code() == ErrorCode::ResourceExceeded && error.fault() == Fault::User;
    }
  });
  EXPECT_EQ(failures, 4);
  uint64_t before = compiles();
  Error error = errorOf([&] { huge.prepare(device(), a, b, c); });
  EXPECT_EQ(compiles(), before + 1) << "a failure is no result to keep";
  EXPECT_TRUE(error.message().starts_with("registers: ")) << error.what();
  EXPECT_NE(error.file().find("SpecializeTest.cpp"), std::string::npos) << error.what();
}

} // namespace
