// Whole kernels, compiled by nvcc from the .cu files beside the .ptx files, against the same computation on the host.
#include "tests/runtime/vgpu/Kernels.h"

#include <numeric>

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

} // namespace
} // namespace tile::vgpu
