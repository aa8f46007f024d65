// Kernels that gather: sums, scans, histograms, sorting, rows brought to one scale. Compiled from kernels/*.cu.
#include "tests/runtime/vgpu/Kernels.h"

#include <cmath>
#include <numeric>
#include <random>

namespace tile::vgpu {
namespace {

std::vector<int> integers(size_t count, int low, int high, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<int> values(count);
  for (int &value : values)
    value = low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  return values;
}

TEST(KernelsReduce, WarpSums) {
  constexpr int n = 200;
  std::vector<float> in(n);
  std::iota(in.begin(), in.end(), -50.0f);
  Gpu gpu(kernelText("reduce.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(8 * sizeof(float));
  gpu.run("warp_sums", {4}, {64}, 0, din, dout, n);
  gpu.expectClean();
  auto out = gpu.download<float>(dout, 8);
  for (int warp = 0; warp < 8; ++warp) {
    float sum = 0;
    for (int i = warp * 32; i < std::min(n, warp * 32 + 32); ++i)
      sum += in[i];
    EXPECT_EQ(out[warp], sum);
  }
}

TEST(KernelsReduce, TreeInDynamicSharedMemory) {
  constexpr int n = 1900, threads = 256, blocks = 4;
  auto in = integers(n, -1000, 1000);
  Gpu gpu(kernelText("reduce.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(blocks * 4);
  gpu.run("block_tree", {blocks}, {threads}, threads * 4, din, dout, n);
  gpu.expectClean();
  auto out = gpu.download<int>(dout, blocks);
  for (int block = 0; block < blocks; ++block)
    EXPECT_EQ(out[block], std::accumulate(in.begin() + block * 2 * threads,
                                          in.begin() + std::min(n, (block + 1) * 2 * threads), 0));
}

TEST(KernelsReduce, GridByAtomics) {
  constexpr int n = 5003;
  auto in = integers(n, -100000, 100000);
  Gpu gpu(kernelText("reduce.ptx"), "sm_80", "all", 2);
  auto din = gpu.upload(in), dsum = gpu.upload(std::vector<long long>{0}),
       dleast = gpu.upload(std::vector<int>{INT32_MAX});
  gpu.run("grid_atomic", {6}, {128}, 0, din, dsum, dleast, n);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<long long>(dsum, 1)[0], std::accumulate(in.begin(), in.end(), 0ll));
  EXPECT_EQ(gpu.download<int>(dleast, 1)[0], *std::min_element(in.begin(), in.end()));
}

TEST(KernelsReduce, GridByTheLastBlock) {
  constexpr int n = 3000, blocks = 12;
  std::vector<double> in(n);
  std::iota(in.begin(), in.end(), 0.25);
  Gpu gpu(kernelText("reduce.ptx"), "sm_80", "all", 2);
  auto din = gpu.upload(in), dpartial = gpu.device->alloc(blocks * 8), dout = gpu.device->alloc(8);
  for (int round = 0; round < 2; ++round) { // the counter is back at zero after each
    gpu.run("grid_fence", {blocks}, {256}, 0, din, dpartial, dout, n);
    gpu.expectClean();
    EXPECT_EQ(gpu.download<double>(dout, 1)[0], std::accumulate(in.begin(), in.end(), 0.0));
  }
}

TEST(KernelsReduce, TilesOfEightThreads) {
  constexpr int n = 250;
  auto in = integers(n, 1, 1000);
  Gpu gpu(kernelText("reduce.ptx"));
  auto din = gpu.upload(in), dsums = gpu.device->alloc(32 * 4), dmost = gpu.device->alloc(32 * 4);
  gpu.run("tile_reduce", {2}, {128}, 0, din, dsums, dmost, n);
  gpu.expectClean();
  auto sums = gpu.download<int>(dsums, 32), most = gpu.download<int>(dmost, 32);
  in.resize(256, 0);
  for (int tile = 0; tile < 32; ++tile) {
    EXPECT_EQ(sums[tile], std::accumulate(in.begin() + tile * 8, in.begin() + tile * 8 + 8, 0));
    EXPECT_EQ(most[tile], *std::max_element(in.begin() + tile * 8, in.begin() + tile * 8 + 8));
  }
}

TEST(KernelsScan, BlockByShuffles) {
  constexpr int n = 900, threads = 512;
  auto in = integers(n, -50, 50);
  Gpu gpu(kernelText("scan.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(n * 4);
  gpu.run("scan_block", {2}, {threads}, 0, din, dout, n);
  gpu.expectClean();
  auto out = gpu.download<int>(dout, n);
  for (int i = 0, sum = 0; i < n; ++i) {
    sum = i % threads == 0 ? in[i] : sum + in[i];
    EXPECT_EQ(out[i], sum) << i;
  }
}

TEST(KernelsScan, HillisSteele) {
  constexpr int threads = 128;
  std::vector<float> in(2 * threads);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(static_cast<int>(i * 29 % 17) - 8);
  Gpu gpu(kernelText("scan.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(in.size() * 4);
  gpu.run("scan_hillis_steele", {2}, {threads}, 2 * threads * 4, din, dout);
  gpu.expectClean();
  auto out = gpu.download<float>(dout, in.size());
  float sum = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    sum = i % threads == 0 ? in[i] : sum + in[i];
    EXPECT_EQ(out[i], sum) << i;
  }
}

TEST(KernelsScan, CompactionByBallot) {
  constexpr int n = 1000;
  auto in = integers(n, -20, 20);
  Gpu gpu(kernelText("scan.ptx"));
  auto din = gpu.upload(in), dout = gpu.upload(std::vector<int>(n, 0)),
       dcount = gpu.upload(std::vector<int>{0});
  gpu.run("compact", {8}, {128}, 0, din, dout, dcount, n);
  gpu.expectClean();
  std::vector<int> expected;
  std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](int x) { return x > 0; });
  ASSERT_EQ(gpu.download<int>(dcount, 1)[0], static_cast<int>(expected.size()));
  auto out = gpu.download<int>(dout, expected.size());
  std::sort(out.begin(), out.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(out, expected);
}

TEST(KernelsTables, HistogramOfBytes) {
  constexpr int n = 7001;
  std::vector<uint8_t> in(n);
  std::mt19937 random(3);
  for (uint8_t &value : in)
    value = static_cast<uint8_t>(random() % 16 * (random() % 16));
  std::vector<uint32_t> expected(256, 0);
  for (uint8_t value : in)
    ++expected[value];
  Gpu gpu(kernelText("tables.ptx"));
  auto din = gpu.upload(in), dbins = gpu.upload(std::vector<uint32_t>(256, 0));
  gpu.run("histogram", {5}, {128}, 0, din, dbins, n);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<uint32_t>(dbins, 256), expected);
}

// Both are right; the padding is what takes the bank conflicts away.
TEST(KernelsTables, TransposesAndTheirBankConflicts) {
  constexpr int rows = 70, columns = 100;
  std::vector<float> in(rows * columns);
  std::iota(in.begin(), in.end(), 0.0f);
  for (bool padded : {true, false}) {
    Gpu gpu(kernelText("tables.ptx"));
    gpu.device->setCounters(true);
    auto din = gpu.upload(in), dout = gpu.device->alloc(in.size() * 4);
    gpu.run(padded ? "transpose_padded" : "transpose_plain", {4, 3}, {32, 8}, 0, din, dout, rows,
            columns);
    gpu.expectClean();
    auto out = gpu.download<float>(dout, in.size());
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column)
        ASSERT_EQ(out[column * rows + row], in[row * columns + column]);
    EXPECT_EQ(gpu.device->counters().bankConflicts() == 0, padded);
  }
}

TEST(KernelsTables, Stencil) {
  constexpr int height = 37, width = 50;
  std::vector<float> in(height * width);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(i * 37 % 64);
  Gpu gpu(kernelText("tables.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(in.size() * 4);
  gpu.run("stencil", {4, 3}, {16, 16}, 0, din, dout, height, width);
  gpu.expectClean();
  auto out = gpu.download<float>(dout, in.size());
  auto at = [&](int y, int x) {
    return in[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)];
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      ASSERT_EQ(out[y * width + x], 0.5f * at(y, x) + 0.125f * (at(y, x - 1) + at(y, x + 1) +
                                                                at(y - 1, x) + at(y + 1, x)));
}

TEST(KernelsTables, ConvolutionWithConstantWeights) {
  constexpr int n = 300;
  const int weights[] = {2, 7, 14, 18, 14, 7, 2}; // in 64ths
  std::vector<float> in(n);
  for (int i = 0; i < n; ++i)
    in[i] = static_cast<float>(i * 13 % 101);
  Gpu gpu(kernelText("tables.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(n * 4);
  gpu.run("convolve", {3}, {128}, 0, din, dout, n);
  gpu.expectClean();
  auto out = gpu.download<float>(dout, n);
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = -3; k <= 3; ++k)
      if (i + k >= 0 && i + k < n)
        sum += static_cast<float>(weights[k + 3]) * in[i + k];
    EXPECT_EQ(out[i], sum / 64) << i;
  }
}

TEST(KernelsRows, OnlineSoftmax) {
  constexpr int rows = 3, columns = 150; // fewer than threads in the last round
  std::vector<float> in(rows * columns);
  std::mt19937 random(3);
  for (float &value : in)
    value = std::uniform_real_distribution<float>(-30, 30)(random);
  Gpu gpu(kernelText("normalise.ptx"));
  auto din = gpu.upload(in), dout = gpu.device->alloc(in.size() * 4);
  gpu.run("softmax_online", {rows}, {256}, 0, din, dout, columns);
  gpu.expectClean();
  auto out = gpu.download<float>(dout, in.size());
  for (int row = 0; row < rows; ++row) {
    const float *x = &in[row * columns];
    double largest = *std::max_element(x, x + columns), sum = 0;
    for (int i = 0; i < columns; ++i)
      sum += std::exp(x[i] - largest);
    for (int i = 0; i < columns; ++i) {
      double expected = std::exp(x[i] - largest) / sum;
      EXPECT_NEAR(out[row * columns + i], expected, 2e-5 * expected + 1e-30);
    }
  }
}

TEST(KernelsRows, Layernorm) {
  constexpr int rows = 6, columns = 77;
  std::vector<float> in(rows * columns), scale(columns), shift(columns);
  std::mt19937 random(4);
  for (auto *list : {&in, &scale, &shift})
    for (float &value : *list)
      value = std::uniform_real_distribution<float>(-3, 5)(random);
  Gpu gpu(kernelText("normalise.ptx"));
  auto din = gpu.upload(in), dscale = gpu.upload(scale), dshift = gpu.upload(shift),
       dout = gpu.device->alloc(in.size() * 4);
  gpu.run("layernorm", {2}, {32, 4}, 0, din, dscale, dshift, dout, rows, columns, 1e-5f);
  gpu.expectClean();
  auto out = gpu.download<float>(dout, in.size());
  for (int row = 0; row < rows; ++row) {
    const float *x = &in[row * columns];
    double mean = std::accumulate(x, x + columns, 0.0) / columns, squares = 0;
    for (int i = 0; i < columns; ++i)
      squares += (x[i] - mean) * (x[i] - mean);
    for (int i = 0; i < columns; ++i)
      EXPECT_NEAR(out[row * columns + i],
                  (x[i] - mean) / std::sqrt(squares / columns + 1e-5) * scale[i] + shift[i], 1e-4);
  }
}

TEST(KernelsSort, BitonicNetwork) {
  auto in = integers(512, -1000, 1000);
  Gpu gpu(kernelText("sort.ptx"));
  auto data = gpu.upload(in);
  gpu.run("bitonic", {2}, {256}, 256 * 4, data);
  gpu.expectClean();
  std::sort(in.begin(), in.begin() + 256);
  std::sort(in.begin() + 256, in.end());
  EXPECT_EQ(gpu.download<int>(data, in.size()), in);
}

TEST(KernelsSort, RadixPassesSortStably) {
  std::mt19937 random(9);
  std::vector<uint32_t> in(512);
  for (uint32_t &value : in)
    value = random() & 0xfff;
  Gpu gpu(kernelText("sort.ptx"));
  auto from = gpu.upload(in), to = gpu.device->alloc(in.size() * 4);
  for (int shift = 0; shift < 12; shift += 4) {
    gpu.run("radix_pass", {2}, {256}, 0, from, to, shift);
    gpu.expectClean();
    std::swap(from, to);
  }
  std::sort(in.begin(), in.begin() + 256);
  std::sort(in.begin() + 256, in.end());
  EXPECT_EQ(gpu.download<uint32_t>(from, in.size()), in);
}

TEST(KernelsSort, LowerBound) {
  std::vector<double> sorted(1000), keys;
  for (size_t i = 0; i < sorted.size(); ++i)
    sorted[i] = static_cast<double>(i / 3) * 0.5;
  for (double key : {-1.0, 0.0, 0.25, 7.0, 100.0, 166.5, 1e9, 3.5, 3.4999})
    keys.push_back(key);
  Gpu gpu(kernelText("sort.ptx"));
  auto dsorted = gpu.upload(sorted), dkeys = gpu.upload(keys),
       dout = gpu.device->alloc(keys.size() * 4);
  gpu.run("lower_bound", {1}, {32}, 0, dsorted, static_cast<int>(sorted.size()), dkeys, dout,
          static_cast<int>(keys.size()));
  gpu.expectClean();
  auto out = gpu.download<int>(dout, keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(out[i], std::lower_bound(sorted.begin(), sorted.end(), keys[i]) - sorted.begin());
}

} // namespace
} // namespace tile::vgpu
