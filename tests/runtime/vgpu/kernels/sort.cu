// Sorting and searching: a bitonic network, one pass of a radix sort, a lower bound.
extern "C" __global__ void bitonic(int *data) {
  extern __shared__ int values[];
  int i = threadIdx.x, n = blockDim.x;
  values[i] = data[blockIdx.x * n + i];
  __syncthreads();
  for (int size = 2; size <= n; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      int other = i ^ stride;
      if (other > i) {
        bool up = (i & size) == 0;
        int a = values[i], b = values[other];
        if ((a > b) == up)
          values[i] = b, values[other] = a;
      }
      __syncthreads();
    }
  data[blockIdx.x * n + i] = values[i];
}

// Four bits of the keys of one block, stably: matching lanes count each other.
extern "C" __global__ void radix_pass(const unsigned *in, unsigned *out, int shift) {
  __shared__ unsigned counts[8][16], starts[8][16];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  if (lane < 16)
    counts[warp][lane] = 0;
  __syncwarp();
  unsigned key = in[blockIdx.x * blockDim.x + threadIdx.x], digit = key >> shift & 15;
  unsigned same = __match_any_sync(0xffffffffu, digit);
  int before = __popc(same & ((1u << lane) - 1));
  if (before == 0)
    counts[warp][digit] = __popc(same);
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (int d = 0; d < 16; ++d)
      for (int w = 0; w < warps; ++w) {
        starts[w][d] = sum;
        sum += counts[w][d];
      }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + starts[warp][digit] + before] = key;
}

extern "C" __global__ void lower_bound(const double *sorted, int n, const double *keys, int *out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < keys[i])
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = low;
}
