// Numbers of all widths: division, remainders, bits of 64, double precision, random numbers.
extern "C" __global__ void divisions(const long long *a, const long long *b, long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || b[i] == 0)
    return;
  int a32 = static_cast<int>(a[i]), b32 = static_cast<int>(b[i]) | 1;
  unsigned ua = static_cast<unsigned>(a32), ub = static_cast<unsigned>(b32);
  unsigned long long ua64 = static_cast<unsigned long long>(a[i]), ub64 = static_cast<unsigned long long>(b[i]);
  long long *result = out + 10 * static_cast<long long>(i);
  result[0] = a[i] / b[i];
  result[1] = a[i] % b[i];
  result[2] = static_cast<long long>(ua64 / ub64);
  result[3] = static_cast<long long>(ua64 % ub64);
  result[4] = a32 / b32;
  result[5] = a32 % b32;
  result[6] = ua / ub + ua % 7 + ua / 10;
  result[7] = static_cast<short>(a32) / static_cast<short>(b32 | 1);
  result[8] = static_cast<unsigned char>(a32) % static_cast<unsigned char>(b32 | 1);
  result[9] = a32 / 8 + a32 % 1000 + static_cast<long long>(a[i] / 12345);
}

extern "C" __global__ void bits64(const unsigned long long *in, unsigned long long *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long x = in[i], *result = out + 8 * static_cast<long long>(i);
  result[0] = __popcll(x);
  result[1] = __clzll(static_cast<long long>(x));
  result[2] = __ffsll(static_cast<long long>(x));
  result[3] = __brevll(x);
  result[4] = x << (x & 63) | x >> (64 - (x & 63)) % 64;
  result[5] = __umul64hi(x, 0x9e3779b97f4a7c15ull);
  result[6] = static_cast<unsigned long long>(__mul64hi(static_cast<long long>(x), -3ll));
  result[7] = (x & (x - 1)) ^ (x >> 13) ^ (x * 0xff51afd7ed558ccdull);
}

extern "C" __global__ void doubles(const double *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double x = in[i], *result = out + 9 * static_cast<long long>(i);
  result[0] = x / 3.0 + 1.0 / (x * x + 1.0);
  result[1] = sqrt(x * x + 2.0);
  result[2] = fma(x, x, -1.0);
  result[3] = floor(x) + rint(x * 0.5) + trunc(-x);
  result[4] = exp(x * 0.01);
  result[5] = sin(x) + cos(x);
  result[6] = __double2int_rn(x) + __double2ll_rz(x * 1e6);
  result[7] = __dadd_ru(x, 1e-20) - __dadd_rd(x, 1e-20);
  result[8] = fmin(fmax(x, -3.5), 8.25) + copysign(2.0, x) + log(x * x + 1.0);
}

// Philox 4x32-10.
extern "C" __global__ void philox(uint4 *out, unsigned seedLow, unsigned seedHigh, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  uint4 c = make_uint4(i, 0, 7, 0);
  uint2 key = make_uint2(seedLow, seedHigh);
  for (int round = 0; round < 10; ++round) {
    unsigned high0 = __umulhi(0xD2511F53u, c.x), high1 = __umulhi(0xCD9E8D57u, c.z);
    c = make_uint4(high1 ^ c.y ^ key.x, 0xCD9E8D57u * c.z, high0 ^ c.w ^ key.y, 0xD2511F53u * c.x);
    key.x += 0x9E3779B9u, key.y += 0xBB67AE85u;
  }
  out[i] = c;
}
