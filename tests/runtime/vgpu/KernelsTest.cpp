// Whole kernels, compiled by nvcc from the .cu files beside the .ptx files, against the same computation on the host.
#include "tests/runtime/vgpu/Kernels.h"

#include <cmath>
#include <numeric>
#include <random>

namespace tile::vgpu {
namespace {

TEST(Kernels, VectorAddEqualsHost) {
  constexpr int n = 1000; // not a multiple of the block
  std::vector<float> a(n), b(n), c(n, -1.0f);
  for (int i = 0; i < n; ++i)
    a[i] = 0.5f * i, b[i] = 3.0f - i;
  Gpu gpu(kernelText("vector_add.ptx"));
  auto da = gpu.upload(a), db = gpu.upload(b), dc = gpu.upload(c);
  gpu.run("vector_add", {8}, {128}, 0, da, db, dc, n);
  gpu.expectClean();
  c = gpu.download<float>(dc, n);
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(c[i], a[i] + b[i]);
}

TEST(Kernels, BlockSumReducesThroughShufflesAndSharedMemory) {
  constexpr int n = 1000;
  std::vector<float> in(n);
  std::iota(in.begin(), in.end(), 1.0f);
  Gpu gpu(kernelText("block_sum.ptx"));
  auto din = gpu.upload(in);
  auto dout = gpu.device->alloc(4 * sizeof(float));
  gpu.run("block_sum", {4}, {256}, 0, din, dout, n);
  gpu.expectClean();
  auto out = gpu.download<float>(dout, 4);
  for (int block = 0; block < 4; ++block) {
    float sum = 0;
    for (int i = block * 256; i < std::min(n, block * 256 + 256); ++i)
      sum += in[i];
    EXPECT_EQ(out[block], sum);
  }
}

// Values with few bits make every order of summation exact.
std::vector<half> smallHalves(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<half> values(count);
  for (half &value : values)
    value = half(static_cast<float>(static_cast<int>(random() % 17) - 8) / 8);
  return values;
}

std::vector<float> matmulReference(const std::vector<half> &a, const std::vector<half> &b, int m,
                                   int n, int k) {
  std::vector<float> c(static_cast<size_t>(m) * n, 0.0f);
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j)
        c[i * n + j] += float(a[i * k + p]) * float(b[p * n + j]);
  return c;
}

TEST(Kernels, MatmulWithCpAsyncLdmatrixAndMma) {
  int m = 128, n = 192, k = 160;
  auto a = smallHalves(static_cast<size_t>(m) * k, 1),
       b = smallHalves(static_cast<size_t>(k) * n, 2);
  Gpu gpu(kernelText("matmul_mma.ptx"));
  auto da = gpu.upload(a), db = gpu.upload(b);
  auto dc = gpu.device->alloc(sizeof(float) * m * n);
  gpu.run("matmul_mma", {static_cast<uint32_t>(n / 64), static_cast<uint32_t>(m / 64)}, {128}, 0,
          da, db, dc, m, n, k);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<float>(dc, static_cast<size_t>(m) * n), matmulReference(a, b, m, n, k));
}

// ldmatrix has none: the padded rows start in different banks. The copies of A have one a phase: eight lanes write two
// rows of 64 bytes at a distance of 80, whose last and first 12 bytes share banks.
TEST(Kernels, BankConflictsOfMatmulAreThoseOfItsCopies) {
  int m = 64, n = 64, k = 256;
  auto a = smallHalves(static_cast<size_t>(m) * k, 1),
       b = smallHalves(static_cast<size_t>(k) * n, 2);
  Gpu gpu(kernelText("matmul_mma.ptx"));
  auto da = gpu.upload(a), db = gpu.upload(b);
  auto dc = gpu.device->alloc(sizeof(float) * m * n);
  gpu.device->setCounters(true);
  gpu.run("matmul_mma", {1}, {128}, 0, da, db, dc, m, n, k);
  Counters counters = gpu.device->counters();
  EXPECT_EQ(counters.mma, static_cast<uint64_t>(m / 16) * (n / 8) * (k / 16));
  uint64_t copiesOfA = 64 * 32 * 2 / 16, lanesPerPhase = 8;
  EXPECT_EQ(counters.bankConflicts(), (k / 32) * copiesOfA / lanesPerPhase);
  EXPECT_GT(counters.sharedRequests, 0u);
  EXPECT_EQ(counters.barriers, 2u * (k / 32));
}

TEST(Kernels, SoftmaxIsWithinTolerance) {
  int rows = 5, columns = 777;
  std::vector<float> in(static_cast<size_t>(rows) * columns);
  std::mt19937 random(3);
  for (float &value : in)
    value = std::uniform_real_distribution<float>(-20, 20)(random);
  Gpu gpu(kernelText("softmax.ptx"));
  auto din = gpu.upload(in);
  auto dout = gpu.device->alloc(in.size() * 4);
  gpu.run("softmax", {static_cast<uint32_t>(rows)}, {256}, 0, din, dout, columns);
  gpu.expectClean();
  auto out = gpu.download<float>(dout, in.size());
  for (int row = 0; row < rows; ++row) {
    double largest = -INFINITY, sum = 0;
    for (int i = 0; i < columns; ++i)
      largest = std::max<double>(largest, in[row * columns + i]);
    for (int i = 0; i < columns; ++i)
      sum += std::exp(in[row * columns + i] - largest);
    for (int i = 0; i < columns; ++i) {
      double expected = std::exp(in[row * columns + i] - largest) / sum;
      EXPECT_NEAR(out[row * columns + i], expected, 1e-5 * expected + 1e-30);
    }
  }
}

int collatz(int n) {
  int steps = 0;
  for (; n != 1; ++steps)
    n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}

int controlReference(int v, int i) {
  int result = 0, table[8];
  for (int k = 0; k < 8; ++k)
    table[k] = v * k + (k ^ i);
  for (int a = 0; a < 10 && result <= 1000; ++a)
    for (int b = a; b < 10; ++b) {
      if ((a * b + v) % 7 == 3)
        break;
      if ((a + b + v) % 5 != 1)
        result += table[(a * b + v) & 7];
    }
  switch (v % 5) {
  case 0:
    return result + collatz(v + 1);
  case 1:
    return result - 17;
  case 2:
    return result * 3;
  case 3:
    return result ^ 0x55;
  }
  return -result;
}

TEST(Kernels, DivergentControlFlowEqualsHost) {
  constexpr int n = 333;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = (i * 7919) % 1000;
  Gpu gpu(kernelText("control.ptx"));
  auto din = gpu.upload(in);
  auto dout = gpu.device->alloc(n * 4);
  gpu.run("control", {3}, {128}, 0, din, dout, n);
  gpu.expectClean();
  auto out = gpu.download<int>(dout, n);
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(out[i], controlReference(in[i], i)) << i;
}

TEST(Kernels, LastBlockSeesAllPartialSums) {
  constexpr int n = 5000;
  std::vector<int> in(n);
  std::iota(in.begin(), in.end(), -17);
  Gpu gpu(kernelText("control.ptx"), "sm_80", "all", 2);
  auto din = gpu.upload(in);
  auto partial = gpu.device->alloc(40 * 4), dout = gpu.device->alloc(4);
  gpu.run("last_block", {40}, {128}, 0, din, partial, dout, n);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<int>(dout, 1)[0], std::accumulate(in.begin(), in.end(), 0));
}

TEST(Kernels, ThreadsDoNotChangeResults) {
  int m = 256, n = 256, k = 96;
  auto a = smallHalves(static_cast<size_t>(m) * k, 5),
       b = smallHalves(static_cast<size_t>(k) * n, 6);
  std::vector<float> results[2];
  for (int threads : {1, 2}) {
    Gpu gpu(kernelText("matmul_mma.ptx"), "sm_80", "all", threads);
    auto da = gpu.upload(a), db = gpu.upload(b);
    auto dc = gpu.device->alloc(sizeof(float) * m * n);
    gpu.run("matmul_mma", {4, 4}, {128}, 0, da, db, dc, m, n, k);
    gpu.expectClean();
    results[threads - 1] = gpu.download<float>(dc, static_cast<size_t>(m) * n);
  }
  EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), results[0].size() * 4), 0);
}

} // namespace
} // namespace tile::vgpu
