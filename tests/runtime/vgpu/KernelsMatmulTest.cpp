// Products of matrices through wmma, tf32 mma after staged copies, and mma of bytes. Compiled from kernels/*.cu.
#include "tests/runtime/vgpu/Kernels.h"

#include <random>

namespace tile::vgpu {
namespace {

// Whole numbers so small that every sum is exact in every type.
template <class T> std::vector<T> smallNumbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T &value : values)
    value = T(static_cast<float>(static_cast<int>(random() % 9) - 4));
  return values;
}

// C = A * B, with B in rows or in columns.
template <class T>
std::vector<double> product(const std::vector<T> &a, const std::vector<T> &b, int m, int n, int k,
                            bool columnsOfB) {
  std::vector<double> c(static_cast<size_t>(m) * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int p = 0; p < k; ++p)
        c[i * n + j] +=
            static_cast<double>(static_cast<float>(a[i * k + p])) *
            static_cast<double>(static_cast<float>(b[columnsOfB ? j * k + p : p * n + j]));
  return c;
}

template <class T, class Sum>
void checkWmma(const std::string &kernel, int rows, int columns, int depth, bool columnsOfB) {
  int m = 2 * rows, n = 3 * columns, k = 4 * depth;
  auto a = smallNumbers<T>(static_cast<size_t>(m) * k, 1),
       b = smallNumbers<T>(static_cast<size_t>(k) * n, 2);
  Gpu gpu(kernelText("matmul_wmma.ptx"));
  auto da = gpu.upload(a), db = gpu.upload(b), dc = gpu.device->alloc(sizeof(Sum) * m * n);
  gpu.run(kernel, {3, 2}, {32}, 0, da, db, dc, n, k);
  gpu.expectClean();
  auto c = gpu.download<Sum>(dc, static_cast<size_t>(m) * n);
  auto expected = product(a, b, m, n, k, columnsOfB);
  for (size_t i = 0; i < c.size(); ++i)
    ASSERT_EQ(static_cast<double>(static_cast<float>(c[i])), 2 * expected[i]) << kernel << " " << i;
}

TEST(KernelsMatmul, WmmaOfEveryKind) {
  checkWmma<half, float>("wmma_half", 16, 16, 16, false);
  checkWmma<half, half>("wmma_half_sum", 32, 8, 16, true);
  checkWmma<bfloat16, float>("wmma_bfloat", 8, 32, 16, false);
  checkWmma<int8_t, int32_t>("wmma_bytes", 16, 16, 16, true);
  checkWmma<double, double>("wmma_double", 8, 8, 4, false);
}

// A lies in columns, C goes out in columns.
TEST(KernelsMatmul, WmmaThroughSharedMemory) {
  auto a = smallNumbers<half>(256, 3), b = smallNumbers<half>(256, 4);
  Gpu gpu(kernelText("matmul_wmma.ptx"));
  auto da = gpu.upload(a), db = gpu.upload(b), dc = gpu.device->alloc(256 * 4);
  gpu.run("wmma_shared", {1}, {32}, 0, da, db, dc);
  gpu.expectClean();
  auto c = gpu.download<float>(dc, 256);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      float sum = static_cast<float>((row * 16 + column) % 5);
      for (int k = 0; k < 16; ++k)
        sum += float(a[k * 16 + row]) * float(b[k * 16 + column]);
      EXPECT_EQ(c[column * 16 + row], sum);
    }
}

TEST(KernelsMatmul, ThreeStagesOfCopies) {
  for (int k : {16, 32, 48, 128}) {
    int m = 64, n = 96;
    auto a = smallNumbers<float>(static_cast<size_t>(m) * k, 5),
         b = smallNumbers<float>(static_cast<size_t>(n) * k, 6);
    Gpu gpu(kernelText("matmul_stages.ptx"));
    auto da = gpu.upload(a), db = gpu.upload(b), dc = gpu.device->alloc(sizeof(float) * m * n);
    gpu.run("matmul_stages", {3, 2}, {64}, 0, da, db, dc, n, k);
    gpu.expectClean();
    auto c = gpu.download<float>(dc, static_cast<size_t>(m) * n);
    auto expected = product(a, b, m, n, k, true);
    for (size_t i = 0; i < c.size(); ++i)
      ASSERT_EQ(c[i], expected[i]) << k << " " << i;
  }
}

TEST(KernelsMatmul, Bytes) {
  int m = 32, n = 24, k = 96;
  auto a = smallNumbers<int8_t>(static_cast<size_t>(m) * k, 7),
       b = smallNumbers<int8_t>(static_cast<size_t>(n) * k, 8);
  Gpu gpu(kernelText("matmul_stages.ptx"));
  auto da = gpu.upload(a), db = gpu.upload(b), dc = gpu.device->alloc(sizeof(int) * m * n);
  gpu.run("matmul_bytes", {3, 2}, {32}, 0, da, db, dc, n, k);
  gpu.expectClean();
  auto c = gpu.download<int>(dc, static_cast<size_t>(m) * n);
  auto expected = product(a, b, m, n, k, true);
  for (size_t i = 0; i < c.size(); ++i)
    ASSERT_EQ(c[i], expected[i]) << i;
}

} // namespace
} // namespace tile::vgpu
