// Halves, pairs of halves and bytes: arithmetic and conversions as CUDA's headers write them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void half2_math(const __half2 *a, const __half2 *b, __half2 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __half2 x = a[i], y = b[i], *result = out + 10 * static_cast<long long>(i);
  result[0] = __hadd2(x, y);
  result[1] = __hmul2(x, y);
  result[2] = __hfma2(x, y, x);
  result[3] = __hfma2_relu(x, y, __hneg2(x));
  result[4] = __hmax2(x, y);
  result[5] = __hmin2_nan(x, y);
  result[6] = __habs2(__hsub2(x, y));
  result[7] = __hadd2_sat(x, y);
  result[8] = __hgt2(x, y);
  result[9] = __halves2half2(__hlt(x.x, y.x) ? x.y : y.y, __float2half_rz(__half2float(x.x) * 1.001f));
}

extern "C" __global__ void bfloat_math(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __nv_bfloat16 x = a[i], y = b[i], *result = out + 6 * static_cast<long long>(i);
  result[0] = __hadd(x, y);
  result[1] = __hmul(x, y);
  result[2] = __hfma(x, y, x);
  result[3] = __hmax(x, y);
  result[4] = __float2bfloat16(static_cast<float>(x) / 3.0f);
  result[5] = __hmin_nan(__habs(x), __hneg(y));
}

extern "C" __global__ void fp8_round_trip(const float *in, unsigned char *e4m3, unsigned char *e5m2, float *back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __nv_fp8_e4m3 x(in[i]);
  __nv_fp8_e5m2 y(in[i]);
  e4m3[i] = x.__x;
  e5m2[i] = y.__x;
  back[2 * i] = static_cast<float>(x);
  back[2 * i + 1] = static_cast<float>(y);
}
