// Running sums: of a warp by shuffles, of a block through shared memory, and what a compaction makes of them.
__device__ int warpScan(int value, int lane) {
  for (int offset = 1; offset < 32; offset *= 2) {
    int other = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset)
      value += other;
  }
  return value;
}

extern "C" __global__ void scan_block(const int *in, int *out, int n) {
  __shared__ int totals[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int value = warpScan(i < n ? in[i] : 0, lane);
  if (lane == 31)
    totals[warp] = value;
  __syncthreads();
  if (warp == 0)
    totals[lane] = warpScan(lane < blockDim.x / 32 ? totals[lane] : 0, lane);
  __syncthreads();
  if (warp > 0)
    value += totals[warp - 1];
  if (i < n)
    out[i] = value;
}

// Two buffers in turn, one barrier a step.
extern "C" __global__ void scan_hillis_steele(const float *in, float *out) {
  extern __shared__ float buffers[];
  float *from = buffers, *to = buffers + blockDim.x;
  int i = threadIdx.x;
  from[i] = in[blockIdx.x * blockDim.x + i];
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    to[i] = i >= offset ? from[i] + from[i - offset] : from[i];
    float *swap = from;
    from = to;
    to = swap;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + i] = from[i];
}

// The positive elements, warp by warp in any order of the warps.
extern "C" __global__ void compact(const int *in, int *out, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int value = i < n ? in[i] : 0;
  unsigned keep = __ballot_sync(0xffffffffu, value > 0);
  int base = 0;
  if (lane == 0)
    base = atomicAdd(count, __popc(keep));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (value > 0)
    out[base + __popc(keep & ((1u << lane) - 1))] = value;
}
