// Control flow that leaves straight lines: jump tables, calls, pointers to functions, local arrays.
__device__ __noinline__ int clampAdd(int a, int b, int *overflowed) {
  long long sum = static_cast<long long>(a) + b;
  if (sum > 100 || sum < -100)
    *overflowed += 1;
  return sum > 100 ? 100 : sum < -100 ? -100 : static_cast<int>(sum);
}
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int minusOne(int x) { return x - 1; }
__device__ __noinline__ int squareOfTwice(int x) { return square(twice(x)); }

extern "C" __global__ void nested_calls(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, overflowed = 0;
  if (i >= n)
    return;
  int sum = 0;
  for (int k = 0; k <= i % 5; ++k)
    sum = clampAdd(sum, in[i] * k, &overflowed);
  out[i] = squareOfTwice(sum) + overflowed;
}

typedef int (*Function)(int);
__device__ Function table[3] = {twice, square, minusOne};

extern "C" __global__ void through_pointers(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  Function chosen = i % 4 == 3 ? squareOfTwice : table[i % 4];
  out[i] = chosen(in[i]);
}

extern "C" __global__ void jump_table(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int x = in[i];
  unsigned h = x;
  switch (x & 15) {
  case 0: h = h * 31 + 7; break;
  case 1: h ^= h << 3; break;
  case 2: h = __brev(h); break;
  case 3: h = h / 3; // falls through
  case 4: h += 0x9e3779b9u; break;
  case 5: h = __byte_perm(h, ~h, 0x2461); break;
  case 6: for (int k = 0; k < (x & 7); ++k) h = h * 5 + k; break;
  case 7: h = __clz(h) * 77; break;
  case 8: h = __funnelshift_l(h, h, 11); break;
  case 9: h = -h; break;
  case 10: h = h % 1000; break;
  default: h = ~h;
  }
  out[i] = static_cast<int>(h);
}

// Which element is read is known at run time only, so the array lies in local memory.
extern "C" __global__ void local_arrays(const int *in, int *out, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  short ring[16];
  struct { int value; double weight; } pairs[4];
  for (int k = 0; k < 16; ++k)
    ring[k] = static_cast<short>(in[i] + k * k);
  for (int k = 0; k < 4; ++k)
    pairs[k] = {k * 3, 0.5 * k};
  int at = in[i] & 15, sum = 0;
  for (int r = 0; r < rounds; ++r) {
    at = (at * 5 + ring[at]) & 15;
    ring[at] ^= static_cast<short>(r);
    pairs[at & 3].value += ring[at];
    sum += static_cast<int>(pairs[(at + r) & 3].value * pairs[at & 3].weight);
  }
  out[i] = sum;
}
