// Kernels for sm_90a. Compiled from kernels/hopper_warp.cu and kernels/bulk_scale.cu.
#include "tests/runtime/vgpu/Lanewise.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <numeric>

namespace tile::vgpu {
namespace {

Gpu hopper() { return Gpu(kernelText("hopper_warp.ptx"), "sm_90a"); }

TEST(KernelsHopper, BulkCopiesOfScaledTiles) {
  std::vector<float> in(1024);
  std::iota(in.begin(), in.end(), -100.0f);
  Gpu gpu(kernelText("bulk_scale.ptx"), "sm_90a");
  auto out = gpu.upload(std::vector<float>(1024));
  gpu.run("bulk_scale", {4}, {256}, 0, gpu.upload(in), out, 0.5f);
  gpu.expectClean();
  auto scaled = gpu.download<float>(out, 1024);
  for (size_t i = 0; i < 1024; ++i)
    EXPECT_EQ(scaled[i], in[i] / 2) << i;
}

TEST(KernelsHopper, StoresMatricesAsTheyAreAndTransposed) {
  std::vector<uint32_t> fragments(64);
  std::iota(fragments.begin(), fragments.end(), 0x01000000u);
  Gpu gpu = hopper();
  auto dout = gpu.device->alloc(256);
  gpu.run("store_matrices", {1}, {32}, 0, gpu.upload(fragments), dout);
  gpu.expectClean();
  auto out = gpu.download<uint16_t>(dout, 128);
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) {
      auto element = [&](int fragment, int r, int c) {
        return static_cast<uint16_t>(fragments[fragment * 32 + r * 4 + c / 2] >> (16 * (c % 2)));
      };
      EXPECT_EQ(out[row * 8 + column], element(0, row, column));
      EXPECT_EQ(out[64 + row * 8 + column], element(1, column, row));
    }
}

TEST(KernelsHopper, VectorSums) {
  constexpr int n = 100;
  std::vector<float> in(n * 4), sums(12, 0.5f), pairs(4, 0.0f);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(i % 13) - 6;
  Gpu gpu = hopper();
  auto dsums = gpu.upload(sums), dhalves = gpu.upload(std::vector<uint16_t>(4, 0));
  gpu.run("vector_sums", {2}, {64}, 0, gpu.upload(in), dsums, dhalves, n);
  gpu.expectClean();
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k)
      sums[i % 3 * 4 + k] += in[i * 4 + k];
    for (int k = 0; k < 2; ++k)
      pairs[i % 2 * 2 + k] += in[i * 4 + k];
  }
  EXPECT_EQ(gpu.download<float>(dsums, 12), sums);
  auto halves = gpu.download<uint16_t>(dhalves, 4);
  for (int k = 0; k < 4; ++k)
    EXPECT_EQ(halfToFloat(halves[k]), pairs[k]);
}

TEST(KernelsHopper, ElectedLaneWritesOnce) {
  std::vector<int> in(96);
  std::iota(in.begin(), in.end(), -7);
  Gpu gpu = hopper();
  auto dout = gpu.device->alloc(12);
  gpu.run("elected", {1}, {96}, 0, gpu.upload(in), dout);
  gpu.expectClean();
  auto out = gpu.download<int>(dout, 3);
  for (int warp = 0; warp < 3; ++warp)
    EXPECT_EQ(out[warp], std::accumulate(in.begin() + warp * 32, in.begin() + warp * 32 + 32, 0));
}

TEST(KernelsHopper, PairsOfShorts) {
  std::vector<uint32_t> values = {0,          0x00010002, 0xffff0001, 0x80007fff,
                                  0x12345678, 0xfffefffd, 0x00200010};
  auto [a, b] = allPairs(values);
  auto n = static_cast<int>(a.size());
  Gpu gpu = hopper();
  auto dout = gpu.device->alloc(a.size() * 16);
  gpu.run("pairs_of_shorts", {1}, {64}, 0, gpu.upload(a), gpu.upload(b), dout, n);
  gpu.expectClean();
  auto out = gpu.download<uint32_t>(dout, a.size() * 4);
  for (size_t i = 0; i < a.size(); ++i) {
    uint32_t expected[3] = {};
    for (int part : {0, 16}) {
      auto x = static_cast<int16_t>(a[i] >> part), y = static_cast<int16_t>(b[i] >> part);
      auto sum = static_cast<int16_t>(x + y);
      const int results[] = {std::max<int>(std::max(x, y), 0), std::min<int>(sum, 16),
                             std::min<int>(static_cast<uint16_t>(x), static_cast<uint16_t>(y))};
      for (int k = 0; k < 3; ++k)
        expected[k] |= (static_cast<uint32_t>(results[k]) & 0xffff) << part;
    }
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(out[4 * i + k], expected[k]) << k << ": " << a[i] << ", " << b[i];
    EXPECT_EQ(static_cast<int>(out[4 * i + 3]),
              std::max({static_cast<int>(a[i]), static_cast<int>(b[i]), -5}));
  }
}

TEST(KernelsHopper, BytesOfHalves) {
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < 1 << 16; i += 34)
    in.push_back(i | (i * 5 & 0xffff) << 16);
  auto n = static_cast<int>(in.size());
  Gpu gpu = hopper();
  auto dnarrow = gpu.device->alloc(in.size() * 2), dback = gpu.device->alloc(in.size() * 4);
  gpu.run("bytes_of_halves", {static_cast<uint32_t>(n + 127) / 128}, {128}, 0, gpu.upload(in),
          dnarrow, dback, n);
  gpu.expectClean();
  auto narrow = gpu.download<uint8_t>(dnarrow, in.size() * 2);
  auto back = gpu.download<uint16_t>(dback, in.size() * 2);
  for (size_t i = 0; i < narrow.size(); ++i) {
    double value = decodeFloat(in[i / 2] >> (16 * (i % 2)) & 0xffff, kHalfFormat);
    ASSERT_EQ(narrow[i] & 0x7f, encodeFloat(value, kE4m3Format, Rounding::NearestEven, true) & 0x7f)
        << value;
    ASSERT_EQ(back[i] & 0x7fff,
              encodeFloat(decodeFloat(narrow[i], kE4m3Format), kHalfFormat, Rounding::NearestEven) &
                  0x7fff);
  }
}

} // namespace
} // namespace tile::vgpu
