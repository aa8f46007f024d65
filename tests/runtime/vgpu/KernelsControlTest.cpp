// Kernels with calls, jump tables, local arrays, locks and flags. Compiled from kernels/*.cu.
#include "tests/runtime/vgpu/Kernels.h"

#include <bit>
#include <numeric>

namespace tile::vgpu {
namespace {

std::vector<int> inputs(int n) {
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = i * 7919 % 1009 - 300;
  return in;
}

// Runs a kernel (in, out, n, more...) and compares each element with reference(in[i], i).
template <class Reference, class... More>
void checkEach(const std::string &kernel, Reference reference, More... more) {
  constexpr int n = 300;
  auto in = inputs(n);
  Gpu gpu(kernelText("calls.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(n * 4);
  gpu.run(kernel, {3}, {128}, 0, din, dout, n, more...);
  gpu.expectClean();
  auto out = gpu.download<int>(dout, n);
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(out[i], reference(in[i], i)) << i;
}

TEST(KernelsControl, CallsOfCalls) {
  checkEach("nested_calls", [](int x, int i) {
    int sum = 0, overflowed = 0;
    for (int k = 0; k <= i % 5; ++k) {
      int next = sum + x * k;
      overflowed += next > 100 || next < -100;
      sum = std::clamp(next, -100, 100);
    }
    return 4 * sum * sum + overflowed;
  });
}

TEST(KernelsControl, PointersToFunctions) {
  checkEach("through_pointers", [](int x, int i) {
    return i % 4 == 0 ? 2 * x : i % 4 == 1 ? x * x : i % 4 == 2 ? x - 1 : 4 * x * x;
  });
}

uint32_t jumpReference(int x) {
  auto h = static_cast<uint32_t>(x);
  switch (x & 15) {
  case 0:
    return h * 31 + 7;
  case 1:
    return h ^ h << 3;
  case 2: {
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; ++bit)
      reversed |= (h >> bit & 1) << (31 - bit);
    return reversed;
  }
  case 3:
    return h / 3 + 0x9e3779b9u;
  case 4:
    return h + 0x9e3779b9u;
  case 5: { // bytes 1, 6, 4, 2 of {~h, h}, lowest first
    uint64_t both = uint64_t{~h} << 32 | h;
    uint32_t result = 0;
    for (auto [to, from] : {std::pair(0, 1), {1, 6}, {2, 4}, {3, 2}})
      result |= static_cast<uint32_t>(both >> (8 * from) & 255) << (8 * to);
    return result;
  }
  case 6:
    for (int k = 0; k < (x & 7); ++k)
      h = h * 5 + static_cast<uint32_t>(k);
    return h;
  case 7:
    return static_cast<uint32_t>(std::countl_zero(h)) * 77;
  case 8:
    return std::rotl(h, 11);
  case 9:
    return 0 - h;
  case 10:
    return h % 1000;
  }
  return ~h;
}

TEST(KernelsControl, JumpTable) {
  checkEach("jump_table", [](int x, int) { return static_cast<int>(jumpReference(x)); });
}

TEST(KernelsControl, ArraysInLocalMemory) {
  constexpr int rounds = 23;
  checkEach(
      "local_arrays",
      [](int x, int) {
        short ring[16];
        int value[4];
        double weight[4];
        for (int k = 0; k < 16; ++k)
          ring[k] = static_cast<short>(x + k * k);
        for (int k = 0; k < 4; ++k)
          value[k] = k * 3, weight[k] = 0.5 * k;
        int at = x & 15, sum = 0;
        for (int r = 0; r < rounds; ++r) {
          at = (at * 5 + ring[at]) & 15;
          ring[at] = static_cast<short>(ring[at] ^ r);
          value[at & 3] += ring[at];
          sum += static_cast<int>(value[(at + r) & 3] * weight[at & 3]);
        }
        return sum;
      },
      rounds);
}

TEST(KernelsMemory, TwoArraysInDynamicSharedMemory) {
  constexpr int n = 200, threads = 64;
  auto in = inputs(n);
  Gpu gpu(kernelText("memory.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(n * 4);
  gpu.run("reverse_dynamic", {4}, {threads}, threads * 12, din, dout, n);
  gpu.expectClean();
  auto out = gpu.download<int>(dout, n);
  in.resize(256, 0);
  for (int i = 0; i < n; ++i) {
    int64_t other = in[i / threads * threads + threads - 1 - i % threads];
    EXPECT_EQ(out[i], other + (other << 32 >> 33)) << i;
  }
}

TEST(KernelsMemory, BlocksWaitForFlags) {
  constexpr int blocks = 20;
  Gpu gpu(kernelText("memory.ptx"), "sm_80", "all", 2);
  auto flags = gpu.upload(std::vector<int>(blocks, 0)), values = gpu.device->alloc(blocks * 4);
  gpu.run("chain", {blocks}, {32}, 0, flags, values);
  gpu.expectClean();
  auto result = gpu.download<int>(values, blocks);
  uint32_t before = 1;
  for (uint32_t i = 0; i < blocks; ++i) {
    before = before * 3 + i;
    EXPECT_EQ(result[i], static_cast<int>(before));
  }
}

TEST(KernelsMemory, LockByCompareAndSwap) {
  constexpr int threads = 48, blocks = 3;
  Gpu gpu(kernelText("memory.ptx"));
  auto lock = gpu.upload(std::vector<int>{0}), counter = gpu.upload(std::vector<int>{0}),
       history = gpu.upload(std::vector<int>(threads * blocks, -1));
  gpu.run("locked", {blocks}, {threads}, 0, lock, counter, history);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<int>(counter, 1)[0], threads * blocks);
  auto order = gpu.download<int>(history, threads * blocks);
  std::sort(order.begin(), order.end());
  for (int i = 0; i < threads * blocks; ++i)
    EXPECT_EQ(order[i], i);
}

TEST(KernelsMemory, CacheHintsChangeNothing) {
  constexpr int n = 100;
  std::vector<float> in(n * 4);
  std::iota(in.begin(), in.end(), 1.0f);
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i)
    order[i] = i * 37 % n;
  Gpu gpu(kernelText("memory.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(n * 16), dorder = gpu.upload(order);
  gpu.run("hinted_copy", {2}, {64}, 0, din, dout, dorder, n);
  gpu.expectClean();
  auto out = gpu.download<float>(dout, n * 4);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(out[4 * i], in[4 * order[i]] + in[4 * i]);
    EXPECT_EQ(out[4 * i + 1], in[4 * order[i] + 1] - in[4 * (n - 1 - i) + 1]);
    EXPECT_EQ(out[4 * i + 2], in[4 * i + 2]);
    EXPECT_EQ(out[4 * i + 3], in[4 * i + 3]);
  }
}

TEST(KernelsMemory, AtomicsOfAllKinds) {
  constexpr int n = 150;
  std::vector<int> in(n), before = {5, 5, -9, -1, 16, 3, 4, 0}, expected = before;
  for (int i = 0; i < n; ++i)
    in[i] = i * 31 % 255;
  float floats = 0;
  double doubles = 0;
  std::vector<uint64_t> longs = {0, 96, n - 96, 2 * n};
  for (int v : in) {
    expected[0] += v, expected[1] -= v, expected[2] = std::max(expected[2], v);
    expected[3] &= v | 0xff00, expected[4] |= v & 0xf0f, expected[5] ^= v;
    expected[6] = expected[6] >= 12 ? 0 : expected[6] + 1;
    expected[7] = expected[7] == 0 || expected[7] > 12 ? 12 : expected[7] - 1;
    floats += static_cast<float>(v & 7), doubles += v * 0.5;
    longs[0] = std::max(longs[0], static_cast<uint64_t>(v) << 20);
  }
  Gpu gpu(kernelText("memory.ptx"));
  auto din = gpu.upload(in), dwords = gpu.upload(before),
       dfloats = gpu.upload(std::vector<float>{0}), ddoubles = gpu.upload(std::vector<double>{0}),
       dlongs = gpu.upload(std::vector<uint64_t>(4, 0));
  gpu.run("atomics_of_all_kinds", {2}, {96}, 0, dwords, dfloats, ddoubles, dlongs, din, n);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<int>(dwords, 8), expected);
  EXPECT_EQ(gpu.download<float>(dfloats, 1)[0], floats);
  EXPECT_EQ(gpu.download<double>(ddoubles, 1)[0], doubles);
  EXPECT_EQ(gpu.download<uint64_t>(dlongs, 4), longs);
}

} // namespace
} // namespace tile::vgpu
