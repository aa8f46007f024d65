// Which calls share code, and that concurrent callers compile once.
#include "runtime/jit/Jit.h"
#include "runtime/jit/RecentCalls.h"
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

detail::HostArg view(std::initializer_list<int64_t> extents,
                     std::initializer_list<int64_t> strides) {
  detail::HostArg arg;
  arg.dtype = f32;
  arg.rank = static_cast<uint8_t>(extents.size());
  arg.pointer = reinterpret_cast<void *>(256);
  std::copy(extents.begin(), extents.end(), arg.extents);
  std::copy(strides.begin(), strides.end(), arg.strides);
  return arg;
}

TEST(Facts, AddressingWidensWhereOffsetsReach2To31) {
  std::vector<frontend::TileUse> uses = {{0, 0, 128}, {0, 1, 64}};
  auto isWide = [&](const detail::HostArg &arg) { return jit::factsOf(arg, 0, uses).isWide; };
  EXPECT_FALSE(isWide(view({1000, 1000}, {1000, 1})));
  EXPECT_TRUE(isWide(view({65536, 65536}, {65536, 1})));
  // 127 rows of 2^24 stay below 2^31; the tile of 128 rows reaches row 127 as well, one column too
  // many.
  EXPECT_FALSE(isWide(view({127, 64}, {int64_t(1) << 24, 1})));
  EXPECT_TRUE(isWide(view({129, 64}, {int64_t(1) << 24, 1})))
      << "the overhang of the second tile counts";
  EXPECT_TRUE(isWide(view({1, 1}, {int64_t(1) << 31, 1}))) << "the stride itself does not fit";
  EXPECT_FALSE(isWide(view({int64_t(1) << 30, 8}, {0, 1}))) << "a broadcast spans nothing";
}

TEST(Facts, FollowTheArgument) {
  std::vector<frontend::TileUse> uses = {{0, 1, 80}, {1, 1, 96}};
  detail::HostArg arg = view({7, 160}, {160, 1});
  jit::Facts facts = jit::factsOf(arg, 0, uses);
  EXPECT_TRUE(facts.isAligned);
  EXPECT_EQ(facts.unitStrides, 2);
  EXPECT_EQ(facts.alignedStrides, 1);
  EXPECT_EQ(facts.extentDivisors[0], 1);
  EXPECT_EQ(facts.extentDivisors[1], 80);
  EXPECT_EQ(jit::factsOf(arg, 1, uses).extentDivisors[1], 16)
      << "the other argument's tile does not divide it";
  arg.pointer = reinterpret_cast<void *>(260);
  EXPECT_FALSE(jit::factsOf(arg, 0, uses).isAligned);
}

// --- Recent calls --------------------------------------------------------------------------------

TEST(RecentCalls, NewerOnesTakeThePlacesOfOlderOnes) {
  constexpr size_t kCalls = 5000;
  std::vector<jit::LoadedKernel> kernels(kCalls);
  auto recent = std::make_unique<jit::RecentCalls>();
  auto callOf = [&](size_t i) {
    jit::KeyWords call;
    detail::HostArg arg = view({static_cast<int64_t>(i), 8}, {8, 1});
    jit::appendCall(call, 1, 2, {&arg, 1}, {}, {});
    return call;
  };
  size_t found = 0;
  for (size_t i = 0; i < kCalls; ++i) {
    EXPECT_EQ(recent->find(callOf(i)), nullptr);
    recent->add(callOf(i), {&kernels[i], {}});
    EXPECT_EQ(recent->find(callOf(i))->kernel, &kernels[i]);
  }
  for (size_t i = 0; i < kCalls; ++i)
    if (const jit::RecentCall *known = recent->find(callOf(i))) {
      EXPECT_EQ(known->kernel, &kernels[i]);
      ++found;
    }
  EXPECT_GT(found, 500u);
  EXPECT_LT(found, kCalls) << "memory is bounded";
}

TEST(RecentCalls, DifferByAllButAddressesAndNumbers) {
  detail::HostArg tensor = view({64, 32}, {32, 1}), number;
  number.kind = detail::HostArg::Scalar, number.dtype = f32;
  auto keyOf = [&](uint64_t device, uint64_t kernel, int64_t constant, int warps) {
    jit::KeyWords call;
    detail::HostArg args[] = {tensor, number};
    detail::CompileSettings settings;
    settings.warps = warps;
    jit::appendCall(call, device, kernel, args, {&constant, 1}, settings);
    return call;
  };
  auto key = keyOf(1, 2, 3, 4);
  EXPECT_NE(key, keyOf(2, 2, 3, 4));
  EXPECT_NE(key, keyOf(1, 1, 3, 4));
  EXPECT_NE(key, keyOf(1, 2, 4, 4));
  EXPECT_NE(key, keyOf(1, 2, 3, 8));
  number.bits = 77, tensor.pointer = reinterpret_cast<void *>(512);
  EXPECT_EQ(key, keyOf(1, 2, 3, 4));
  auto expectOther = [&](auto change) {
    detail::HostArg before = tensor;
    change();
    EXPECT_NE(key, keyOf(1, 2, 3, 4));
    tensor = before;
  };
  expectOther([&] { tensor.pointer = reinterpret_cast<void *>(260); });
  expectOther([&] { tensor.extents[1] = 31; });
  expectOther([&] { tensor.strides[0] = 33; });
  expectOther([&] { tensor.dtype = f16; });
  expectOther([&] { tensor.rank = 1; });
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
