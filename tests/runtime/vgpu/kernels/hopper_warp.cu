// nvcc: -arch=sm_90a
// What a warp of a Hopper block does without asynchrony: matrices stored by stmatrix, vector atomics, minima of halves.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// Each warp stores two 8 x 8 matrices of its lanes' fragments, one of them transposed, and copies them out.
extern "C" __global__ void store_matrices(const unsigned *fragments, unsigned short *out) {
  __shared__ __align__(16) unsigned short tiles[2][64];
  unsigned a = fragments[threadIdx.x], b = fragments[32 + threadIdx.x];
  unsigned rows = static_cast<unsigned>(__cvta_generic_to_shared(&tiles[0][threadIdx.x % 8 * 8]));
  unsigned columns = static_cast<unsigned>(__cvta_generic_to_shared(&tiles[1][threadIdx.x % 8 * 8]));
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(rows), "r"(a) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(columns), "r"(b) : "memory");
  __syncwarp();
  for (int i = threadIdx.x; i < 128; i += 32)
    out[i] = tiles[i / 64][i % 64];
}

extern "C" __global__ void vector_sums(const float4 *in, float4 *sums, __half2 *halves, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  atomicAdd(sums + i % 3, in[i]);
  atomicAdd(halves + i % 2, __float22half2_rn(make_float2(in[i].x, in[i].y)));
}

// One lane of each warp speaks for it.
extern "C" __global__ void elected(const int *in, int *out) {
  int sum = __reduce_add_sync(0xffffffffu, in[threadIdx.x]);
  unsigned isLeader;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(isLeader));
  if (isLeader)
    out[threadIdx.x / 32] = sum;
}

extern "C" __global__ void pairs_of_shorts(const unsigned *a, const unsigned *b, unsigned *out, int n) {
  int i = threadIdx.x;
  if (i >= n)
    return;
  out[4 * i] = __vimax_s16x2_relu(a[i], b[i]);
  out[4 * i + 1] = __viaddmin_s16x2(a[i], b[i], 0x00100010u);
  out[4 * i + 2] = __vminu2(a[i], b[i]);
  out[4 * i + 3] = static_cast<unsigned>(__vimax3_s32(static_cast<int>(a[i]), static_cast<int>(b[i]), -5));
}

extern "C" __global__ void bytes_of_halves(const __half2 *in, __nv_fp8x2_e4m3 *narrow, __half2 *back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  narrow[i] = __nv_fp8x2_e4m3(in[i]);
  back[i] = static_cast<__half2>(narrow[i]);
}
