// Products of matrices through the wmma interface: one warp a 16 x 16 tile, straight from global memory.
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

template <int M, int N, int K, class T, class LayoutB, class Sum>
__device__ void tile(const T *a, const T *b, Sum *c, int n, int k) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fragmentA;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fragmentB;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  int row = blockIdx.y * M, column = blockIdx.x * N;
  bool rowMajorB = std::is_same<LayoutB, wmma::row_major>::value;
  wmma::fill_fragment(sum, Sum(0));
  for (int at = 0; at < k; at += K) {
    wmma::load_matrix_sync(fragmentA, a + row * k + at, k);
    wmma::load_matrix_sync(fragmentB, rowMajorB ? b + at * n + column : b + column * k + at, rowMajorB ? n : k);
    wmma::mma_sync(sum, fragmentA, fragmentB, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i)
    sum.x[i] = sum.x[i] + sum.x[i];
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_half(const __half *a, const __half *b, float *c, int n, int k) {
  tile<16, 16, 16, __half, wmma::row_major>(a, b, c, n, k);
}
extern "C" __global__ void wmma_half_sum(const __half *a, const __half *b, __half *c, int n, int k) {
  tile<32, 8, 16, __half, wmma::col_major>(a, b, c, n, k);
}
extern "C" __global__ void wmma_bfloat(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n, int k) {
  tile<8, 32, 16, __nv_bfloat16, wmma::row_major>(a, b, c, n, k);
}
extern "C" __global__ void wmma_bytes(const signed char *a, const signed char *b, int *c, int n, int k) {
  tile<16, 16, 16, signed char, wmma::col_major>(a, b, c, n, k);
}
extern "C" __global__ void wmma_double(const double *a, const double *b, double *c, int n, int k) {
  tile<8, 8, 4, double, wmma::row_major>(a, b, c, n, k);
}

// Through shared memory, with the tile of C transposed on the way out.
extern "C" __global__ void wmma_shared(const __half *a, const __half *b, float *c) {
  __shared__ __align__(32) __half tileA[16 * 24], tileB[16 * 24];
  __shared__ __align__(32) float tileC[16 * 20];
  for (int i = threadIdx.x; i < 256; i += 32)
    tileA[i / 16 * 24 + i % 16] = a[i], tileB[i / 16 * 24 + i % 16] = b[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::col_major> fragmentA;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fragmentB;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  for (int i = threadIdx.x; i < 256; i += 32)
    tileC[i / 16 * 20 + i % 16] = static_cast<float>(i % 5);
  __syncwarp();
  wmma::load_matrix_sync(fragmentA, tileA, 24);
  wmma::load_matrix_sync(fragmentB, tileB, 24);
  wmma::load_matrix_sync(sum, tileC, 20, wmma::mem_row_major);
  wmma::mma_sync(sum, fragmentA, fragmentB, sum);
  wmma::store_matrix_sync(tileC, sum, 20, wmma::mem_col_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32)
    c[i] = tileC[i / 16 * 20 + i % 16];
}
