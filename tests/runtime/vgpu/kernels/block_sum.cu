// The sum of each block's 256 inputs: shuffles inside warps, shared memory between them.
extern "C" __global__ void block_sum(const float *in, float *out, int n) {
  __shared__ float partial[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? in[i] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    for (int offset = 4; offset > 0; offset /= 2)
      value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x == 0)
      out[blockIdx.x] = value;
  }
}
