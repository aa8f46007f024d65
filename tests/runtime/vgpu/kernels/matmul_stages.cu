// A product whose tiles arrive in three stages of asynchronous copies, multiplied by inline tf32 mma; and one of bytes.
#include <cuda_pipeline.h>

constexpr int kStages = 3, kDepth = 16, kTile = 32;

// 32 x 32 of C by two warps; A row-major m x k, B column-major (n x k). k is a multiple of 16.
extern "C" __global__ void matmul_stages(const float *a, const float *b, float *c, int n, int k) {
  __shared__ __align__(16) float tileA[kStages][kTile][kDepth + 4], tileB[kStages][kTile][kDepth + 4];
  int row = blockIdx.y * kTile, column = blockIdx.x * kTile, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  auto fetch = [&](int stage, int at) {
    if (at < k)
      for (int i = threadIdx.x; i < kTile * kDepth / 4; i += blockDim.x) {
        int r = i / (kDepth / 4), q = i % (kDepth / 4) * 4;
        __pipeline_memcpy_async(&tileA[stage][r][q], a + (row + r) * k + at + q, 16);
        __pipeline_memcpy_async(&tileB[stage][r][q], b + (column + r) * k + at + q, 16);
      }
    __pipeline_commit();
  };
  float sum[4][4] = {};
  for (int stage = 0; stage < kStages - 1; ++stage)
    fetch(stage, stage * kDepth);
  for (int step = 0; step * kDepth < k; ++step) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    fetch((step + kStages - 1) % kStages, (step + kStages - 1) * kDepth);
    int stage = step % kStages, g = lane / 4, t = lane % 4;
    for (int kk = 0; kk < kDepth; kk += 8) {
      unsigned x[4];
      for (int r = 0; r < 4; ++r)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[r]) : "f"(tileA[stage][warp * 16 + g + 8 * (r & 1)][kk + t + 4 * (r >> 1)]));
      for (int j = 0; j < 4; ++j) {
        unsigned y[2];
        for (int r = 0; r < 2; ++r)
          asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y[r]) : "f"(tileB[stage][j * 8 + g][kk + t + 4 * r]));
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
      }
    }
  }
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i)
      c[(row + warp * 16 + lane / 4 + 8 * (i >> 1)) * n + column + j * 8 + lane % 4 * 2 + (i & 1)] = sum[j][i];
}

// One warp a 16 x 8 tile, k a multiple of 32; A row-major, B column-major.
extern "C" __global__ void matmul_bytes(const int *a, const int *b, int *c, int n, int k) {
  int row = blockIdx.y * 16, column = blockIdx.x * 8, g = threadIdx.x / 4, t = threadIdx.x % 4, words = k / 4;
  int sum[4] = {};
  for (int at = 0; at < words; at += 8) {
    int x[4], y[2];
    for (int r = 0; r < 4; ++r)
      x[r] = a[(row + g + 8 * (r & 1)) * words + at + t + 4 * (r >> 1)];
    for (int r = 0; r < 2; ++r)
      y[r] = b[(column + g) * words + at + t + 4 * r];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  }
  for (int i = 0; i < 4; ++i)
    c[(row + g + 8 * (i >> 1)) * n + column + t * 2 + (i & 1)] = sum[i];
}
