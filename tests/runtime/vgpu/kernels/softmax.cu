// Row softmax: one block a row, warp reductions, expf.
extern "C" __global__ void softmax(const float *in, float *out, int columns) {
  __shared__ float scratch[32];
  const float *row = in + (size_t)blockIdx.x * columns;
  float *result = out + (size_t)blockIdx.x * columns;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  auto reduce = [&](float value, auto combine, float identity) {
    for (int offset = 16; offset > 0; offset /= 2)
      value = combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
    if (lane == 0)
      scratch[warp] = value;
    __syncthreads();
    value = lane < warps ? scratch[lane] : identity;
    for (int offset = 16; offset > 0; offset /= 2)
      value = combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
    __syncthreads();
    return value;
  };
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    largest = fmaxf(largest, row[i]);
  largest = reduce(largest, [](float a, float b) { return fmaxf(a, b); }, -INFINITY);
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += expf(row[i] - largest);
  sum = reduce(sum, [](float a, float b) { return a + b; }, 0.0f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    result[i] = expf(row[i] - largest) / sum;
}
