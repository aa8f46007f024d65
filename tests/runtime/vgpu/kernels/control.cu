// Divergence in many forms: nested loops with early exits, a switch, a recursive-free device call, local arrays.
__device__ __noinline__ int collatz(int n) {
  int steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  return steps;
}

extern "C" __global__ void control(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = in[i], result = 0;
  int table[8];
  for (int k = 0; k < 8; ++k)
    table[k] = v * k + (k ^ i);
  for (int a = 0; a < 10; ++a) {
    for (int b = a; b < 10; ++b) {
      if ((a * b + v) % 7 == 3)
        break;
      if ((a + b + v) % 5 == 1)
        continue;
      result += table[(a * b + v) & 7];
    }
    if (result > 1000)
      break;
  }
  switch (v % 5) {
  case 0: result += collatz(v + 1); break;
  case 1: result -= 17; break;
  case 2: result *= 3; break;
  case 3: result ^= 0x55; break;
  default: result = -result;
  }
  out[i] = result;
}

// The last block to finish adds up what all blocks left: a global counter, fences and a shared flag.
__device__ unsigned finished;
extern "C" __global__ void last_block(const int *in, int *partial, int *out, int n) {
  __shared__ int sum;
  __shared__ bool isLast;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    isLast = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (isLast && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
      total += ((volatile int *)partial)[b];
    *out = total;
  }
}
