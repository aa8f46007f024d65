// Rows brought to one scale: softmax in one pass over its input, and layer normalisation by Welford's update.
extern "C" __global__ void softmax_online(const float *in, float *out, int columns) {
  __shared__ float shared[2][32];
  const float *row = in + blockIdx.x * columns;
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    float next = fmaxf(largest, row[i]);
    sum = sum * __expf(largest - next) + __expf(row[i] - next);
    largest = next;
  }
  auto join = [&](float otherLargest, float otherSum) {
    float next = fmaxf(largest, otherLargest);
    // Threads without elements have -inf on both sides.
    sum = next == -INFINITY ? 0.0f
                            : sum * __expf(largest - next) + otherSum * __expf(otherLargest - next);
    largest = next;
  };
  for (int offset = 16; offset > 0; offset /= 2)
    join(__shfl_xor_sync(0xffffffffu, largest, offset), __shfl_xor_sync(0xffffffffu, sum, offset));
  int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0)
    shared[0][warp] = largest, shared[1][warp] = sum;
  __syncthreads();
  largest = -INFINITY, sum = 0;
  for (int w = 0; w < blockDim.x / 32; ++w)
    join(shared[0][w], shared[1][w]);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[blockIdx.x * columns + i] = __fdividef(__expf(row[i] - largest), sum);
}

// One warp a row.
extern "C" __global__ void layernorm(const float *in, const float *scale, const float *shift, float *out,
                                     int rows, int columns, float epsilon) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows)
    return;
  float mean = 0, squares = 0, count = 0;
  for (int i = lane; i < columns; i += 32) {
    float value = in[row * columns + i];
    count += 1;
    float delta = value - mean;
    mean += delta / count;
    squares += delta * (value - mean);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    float otherMean = __shfl_xor_sync(0xffffffffu, mean, offset),
          otherSquares = __shfl_xor_sync(0xffffffffu, squares, offset),
          otherCount = __shfl_xor_sync(0xffffffffu, count, offset);
    float both = count + otherCount, delta = otherMean - mean;
    if (both == 0)
      continue;
    mean = (mean * count + otherMean * otherCount) / both;
    squares += otherSquares + delta * delta * count * otherCount / both;
    count = both;
  }
  float inverse = rsqrtf(squares / columns + epsilon);
  for (int i = lane; i < columns; i += 32)
    out[row * columns + i] = (in[row * columns + i] - mean) * inverse * scale[i] + shift[i];
}
