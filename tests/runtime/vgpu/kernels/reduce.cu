// Sums of a whole array: by shuffles, in a tile of threads, through shared memory, and across blocks by atomics or by
// the last block to finish.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__device__ float warpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

extern "C" __global__ void warp_sums(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = warpSum(i < n ? in[i] : 0.0f);
  if (threadIdx.x % 32 == 0)
    out[i / 32] = sum;
}

extern "C" __global__ void block_tree(const int *in, int *out, int n) {
  extern __shared__ int partial[];
  int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  partial[threadIdx.x] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = partial[0];
}

extern "C" __global__ void grid_atomic(const int *in, unsigned long long *sum, int *least, int n) {
  long long mine = 0;
  int low = 0x7fffffff;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    mine += in[i];
    low = min(low, in[i]);
  }
  low = __reduce_min_sync(0xffffffffu, low);
  if (threadIdx.x % 32 == 0)
    atomicMin(least, low);
  atomicAdd(sum, static_cast<unsigned long long>(mine));
}

__device__ unsigned finished;

extern "C" __global__ void grid_fence(const double *in, double *partial, double *out, int n) {
  __shared__ double warps[8];
  __shared__ bool isLast;
  auto sumBlock = [&](double value) {
    for (int offset = 16; offset > 0; offset /= 2)
      value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0)
      warps[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w)
      sum += warps[w];
    __syncthreads();
    return sum;
  };
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = sumBlock(i < n ? in[i] : 0.0);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    isLast = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast)
    return;
  double total = 0;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x)
    total += *static_cast<volatile double *>(partial + block);
  total = sumBlock(total);
  if (threadIdx.x == 0)
    *out = total;
}

extern "C" __global__ void tile_reduce(const int *in, int *sums, int *largest, int n) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x, value = i < n ? in[i] : 0;
  int sum = cg::reduce(tile, value, cg::plus<int>()), most = cg::reduce(tile, value, cg::greater<int>());
  if (tile.thread_rank() == 0) {
    sums[i / 8] = sum;
    largest[i / 8] = most;
  }
}
