// C = A * B in f16 with f32 sums: 64x64 tiles, four warps, double-buffered cp.async, ldmatrix and mma.sync m16n8k16.
// M, N, K are multiples of 64, 64, 32. Rows in shared memory are padded so that ldmatrix has no bank conflicts.
#include <cuda_fp16.h>

constexpr int BM = 64, BN = 64, BK = 32, PadA = BK + 8, PadB = BN + 8;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void copy16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

extern "C" __global__ void __launch_bounds__(128) matmul_mma(const __half *A, const __half *B, float *C, int M, int N, int K) {
  __shared__ __align__(16) __half a[2][BM][PadA];
  __shared__ __align__(16) __half b[2][BK][PadB];
  int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, wm = warp / 2 * 32, wn = warp % 2 * 32;
  float acc[2][4][4] = {};
  auto load = [&](int slot, int k0) {
    for (int i = tid; i < BM * BK / 8; i += 128)
      copy16(&a[slot][i / 4][i % 4 * 8], A + (size_t)(m0 + i / 4) * K + k0 + i % 4 * 8);
    for (int i = tid; i < BK * BN / 8; i += 128)
      copy16(&b[slot][i / 8][i % 8 * 8], B + (size_t)(k0 + i / 8) * N + n0 + i % 8 * 8);
    asm volatile("cp.async.commit_group;");
  };
  load(0, 0);
  for (int step = 0; step < K / BK; ++step) {
    if (step + 1 < K / BK)
      load((step + 1) % 2, (step + 1) * BK);
    else
      asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    int slot = step % 2;
    for (int k = 0; k < BK; k += 16) {
      unsigned fa[2][4], fb[4][2];
      for (int i = 0; i < 2; ++i)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                     : "r"(shared_address(&a[slot][wm + i * 16 + lane % 16][k + lane / 16 * 8])));
      for (int j = 0; j < 4; ++j)
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(fb[j][0]), "=r"(fb[j][1])
                     : "r"(shared_address(&b[slot][k + lane % 16][wn + j * 8])));
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                       : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int r = 0; r < 4; ++r)
        C[(size_t)(m0 + wm + i * 16 + lane / 4 + r / 2 * 8) * N + n0 + wn + j * 8 + lane % 4 * 2 + r % 2] = acc[i][j][r];
}
