// Skinny products by plain 16-byte loads: no shared-memory ring, no TMA. The contraction index may
// be permuted as long as both operands agree, so a 16-byte load of 8 consecutive k is directly the
// fragment of two mma.m16n8k16.
#pragma once
#include "skinny.cuh"

// 16 bytes if ok, else zero: one predicated load, never a branch
#define LDG128(HINT)                                                                               \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; mov.b32 %0, 0; mov.b32 %1, 0; mov.b32 %2, "  \
               "0; mov.b32 %3, 0;\n"                                                               \
               " @p ld.global.nc" HINT ".v4.b32 {%0, %1, %2, %3}, [%4]; }"                         \
               : "=&r"(v.x), "=&r"(v.y), "=&r"(v.z), "=&r"(v.w)                                    \
               : "l"(p), "r"((int)ok))
DEV uint4 ldg(const bf16 *p, bool ok, bool hint = false) {
  uint4 v;
  if (hint)
    LDG128(".L1::no_allocate");
  else
    LDG128("");
  return v;
}
DEV void mma16816(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                  uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
               "%7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
DEV float lo(uint32_t v) { return __uint_as_float(v << 16); }
DEV float hi(uint32_t v) { return __uint_as_float(v & 0xffff0000u); }

// W is NxK, mma.sync: weights are the 16-row operand. WarpsN x WarpsK warps, a warp holds R*16 rows
// and every WarpsK-th piece of 32*Unroll of K. Prefetch: the next piece is loaded before the
// current one is multiplied.
template <class C>
__global__ __launch_bounds__(C::WarpsN *C::WarpsK * 32,
                             C::BlocksPerSm) void gemv_nk(const bf16 *__restrict__ X,
                                                          const bf16 *__restrict__ W,
                                                          bf16 *__restrict__ out, int M, int N,
                                                          int K) {
  constexpr int R = C::RowGroups, NT = C::ColumnTiles, U = C::Unroll, WK = C::WarpsK,
                WN = C::WarpsN, STEP = 32 * U, ROWS = WN * R * 16, COLS = NT * 8;
  __shared__ float red[WK][COLS][ROWS + 4];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, wk = warp % WK, wn = warp / WK,
      g = lane >> 2, q = lane & 3;
  int n0 = blockIdx.x * ROWS;
  const bf16 *w[R][2], *x[NT];
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      w[r][h] = W + (size_t)min(n0 + (wn * R + r) * 16 + h * 8 + g, N - 1) * K + q * 8;
#pragma unroll
  for (int j = 0; j < NT; j++)
    x[j] = X + (size_t)min(j * 8 + g, M - 1) * K + q * 8;
  float acc[R][NT][4] = {};
  auto load = [&](uint4(&v)[U][R][2], int k) {
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int r = 0; r < R; r++)
#pragma unroll
        for (int h = 0; h < 2; h++)
          v[u][r][h] = ldg(w[r][h] + k + u * 32, k + u * 32 + q * 8 < K, C::Hints);
  };
  auto mul = [&](uint4(&v)[U][R][2], int k) {
    uint4 xv[U][NT];
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int j = 0; j < NT; j++)
        xv[u][j] = ldg(x[j] + k + u * 32, k + u * 32 + q * 8 < K);
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int r = 0; r < R; r++)
#pragma unroll
        for (int j = 0; j < NT; j++) {
          uint4 a = v[u][r][0], b = v[u][r][1], c = xv[u][j];
          mma16816(acc[r][j], a.x, b.x, a.y, b.y, c.x, c.y);
          mma16816(acc[r][j], a.z, b.z, a.w, b.w, c.z, c.w);
        }
  };
  int k = wk * STEP;
  if constexpr (C::Prefetch) {
    uint4 v[U][R][2], nx[U][R][2];
    load(v, k);
    while (k < K) {
      int next = k + WK * STEP;
      load(nx, next);
      mul(v, k);
      k = next;
#pragma unroll
      for (int i = 0; i < U * R * 2; i++)
        (&v[0][0][0])[i] = (&nx[0][0][0])[i];
    }
  } else {
    for (; k < K; k += WK * STEP) {
      uint4 v[U][R][2];
      load(v, k);
      mul(v, k);
    }
  }
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        red[wk][j * 8 + q * 2 + (i & 1)][(wn * R + r) * 16 + (i >> 1) * 8 + g] = acc[r][j][i];
  __syncthreads();
  for (int i = threadIdx.x; i < ROWS / 2 * COLS; i += WN * WK * 32) {
    int m = i / (ROWS / 2), n = i % (ROWS / 2) * 2;
    if (m >= M || n0 + n >= N)
      continue;
    float a = 0, b = 0;
#pragma unroll
    for (int s = 0; s < WK; s++)
      a += red[s][m][n], b += red[s][m][n + 1];
    *(uint32_t *)(out + (size_t)m * N + n0 + n) = pack_bf16(a, b);
  }
}

// W is NxK, f32 FMA, M <= ColumnTiles: a warp holds R rows, 512 contiguous bytes of a row a load.
template <class C>
__global__ __launch_bounds__(C::WarpsN *C::WarpsK * 32,
                             C::BlocksPerSm) void gemv_nk_fma(const bf16 *__restrict__ X,
                                                              const bf16 *__restrict__ W,
                                                              bf16 *__restrict__ out, int M, int N,
                                                              int K) {
  constexpr int R = C::RowGroups, MM = C::ColumnTiles, U = C::Unroll;
  int lane = threadIdx.x & 31, n0 = (blockIdx.x * C::WarpsN + (threadIdx.x >> 5)) * R;
  if (n0 >= N)
    return;
  float acc[R][MM] = {};
  for (int k = lane * 8; k < K; k += 256 * U) {
    uint4 v[U][R];
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int r = 0; r < R; r++)
        v[u][r] = ldg(W + (size_t)min(n0 + r, N - 1) * K + k + u * 256, k + u * 256 < K, C::Hints);
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int m = 0; m < MM; m++) {
        uint4 c = ldg(X + (size_t)min(m, M - 1) * K + k + u * 256, k + u * 256 < K);
#pragma unroll
        for (int r = 0; r < R; r++) {
          uint4 a = v[u][r];
          acc[r][m] += lo(a.x) * lo(c.x) + hi(a.x) * hi(c.x) + lo(a.y) * lo(c.y) +
                       hi(a.y) * hi(c.y) + lo(a.z) * lo(c.z) + hi(a.z) * hi(c.z) +
                       lo(a.w) * lo(c.w) + hi(a.w) * hi(c.w);
        }
      }
  }
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int m = 0; m < MM; m++) {
#pragma unroll
      for (int s = 16; s; s /= 2)
        acc[r][m] += __shfl_xor_sync(~0u, acc[r][m], s);
      if (lane == 0 && m < M && n0 + r < N)
        out[(size_t)m * N + n0 + r] = __float2bfloat16(acc[r][m]);
    }
}

// W is KxN: a block of WarpsK warps holds 64 columns (128-byte rows), a warp every WarpsK-th piece
// of 32*Unroll of the K of its block; blocks of a cluster share K and sum through distributed
// shared memory. mma.sync with the weights as the 8-column operand (PRMT pairs two rows), or f32
// FMA (M <= ColumnTiles).
template <class C>
__global__ __launch_bounds__(C::WarpsK * 32,
                             C::BlocksPerSm) void gemv_kn(const bf16 *__restrict__ X,
                                                          const bf16 *__restrict__ W,
                                                          bf16 *__restrict__ out, int M, int N,
                                                          int K) {
  constexpr int MT = C::ColumnTiles, U = C::Unroll, WK = C::WarpsK, STEP = 32 * U,
                COLS = C::Fma ? C::ColumnTiles : C::ColumnTiles * 16,
                NA = C::Fma ? MT * 8 : MT * 32;
  __shared__ float red[WK][COLS][64 + 4];
  int lane = threadIdx.x & 31, wk = threadIdx.x >> 5, size = cluster_size(), rank = cluster_rank(),
      n0 = blockIdx.x / size * 64;
  int g = C::Fma ? lane & 7 : lane >> 2, q = C::Fma ? lane >> 3 : lane & 3;
  int steps = (K + STEP - 1) / STEP, s0 = rank * steps / size, s1 = (rank + 1) * steps / size;
  const bf16 *w = W + (size_t)(q * 8) * N + min(n0 + g * 8, N - 8);
  float acc[NA] = {};
  for (int s = s0 + wk; s < s1; s += WK) {
    int k = s * STEP;
    uint4 v[U][8];
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int i = 0; i < 8; i++)
        v[u][i] = ldg(w + (size_t)(k + u * 32 + i) * N, k + u * 32 + q * 8 < K, C::Hints);
#pragma unroll
    for (int u = 0; u < U; u++) {
      int kk = k + u * 32 + q * 8;
      if constexpr (C::Fma) {
#pragma unroll
        for (int m = 0; m < MT; m++) {
          uint4 c = ldg(X + (size_t)min(m, M - 1) * K + kk, kk < K);
          uint32_t cw[4] = {c.x, c.y, c.z, c.w};
#pragma unroll
          for (int i = 0; i < 8; i++) {
            float f = i & 1 ? hi(cw[i / 2]) : lo(cw[i / 2]);
            uint32_t vw[4] = {v[u][i].x, v[u][i].y, v[u][i].z, v[u][i].w};
#pragma unroll
            for (int j = 0; j < 8; j++)
              acc[m * 8 + j] += f * (j & 1 ? hi(vw[j / 2]) : lo(vw[j / 2]));
          }
        }
      } else {
#pragma unroll
        for (int mt = 0; mt < MT; mt++) {
          uint4 a = ldg(X + (size_t)min(mt * 16 + g, M - 1) * K + kk, kk < K),
                b = ldg(X + (size_t)min(mt * 16 + 8 + g, M - 1) * K + kk, kk < K);
#pragma unroll
          for (int j = 0; j < 8; j++) {
            float(&d)[4] = *(float(*)[4])(acc + (mt * 8 + j) * 4);
            uint32_t sel = j & 1 ? 0x7632 : 0x5410, p[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
              const uint4 &e = v[u][2 * i], &o = v[u][2 * i + 1];
              p[i] = j / 2 == 0   ? __byte_perm(e.x, o.x, sel)
                     : j / 2 == 1 ? __byte_perm(e.y, o.y, sel)
                     : j / 2 == 2 ? __byte_perm(e.z, o.z, sel)
                                  : __byte_perm(e.w, o.w, sel);
            }
            mma16816(d, a.x, b.x, a.y, b.y, p[0], p[1]);
            mma16816(d, a.z, b.z, a.w, b.w, p[2], p[3]);
          }
        }
      }
    }
  }
  if constexpr (C::Fma) {
#pragma unroll
    for (int i = 0; i < NA; i++) {
      acc[i] += __shfl_xor_sync(~0u, acc[i], 8);
      acc[i] += __shfl_xor_sync(~0u, acc[i], 16);
      if (q == 0)
        red[wk][i / 8][g * 8 + i % 8] = acc[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < NA; i++)
      red[wk][i / 32 * 16 + (i >> 1 & 1) * 8 + g][(2 * q + (i & 1)) * 8 + i % 32 / 4] = acc[i];
  }
  __syncthreads();
  if (size > 1) { // own part first, then the peers' in the order of k
    for (int i = threadIdx.x; i < COLS * 64; i += WK * 32) {
      float a = 0;
#pragma unroll
      for (int s = 0; s < WK; s++)
        a += red[s][i / 64][i % 64];
      red[0][i / 64][i % 64] = a; // element i is read and written by this thread alone
    }
    cluster_sync();
  }
  int e0 = rank * (COLS * 32) / size, e1 = (rank + 1) * (COLS * 32) / size;
  for (int i = e0 + threadIdx.x; i < e1; i += WK * 32) {
    int m = i / 32, n = i % 32 * 2;
    if (m >= M || n0 + n >= N)
      continue;
    float a = 0, b = 0;
    if (size > 1) {
      uint32_t p = smem_u32(&red[0][m][n]);
      for (int r = 0; r < size; r++)
        a += dsm_f(peer(p, r)), b += dsm_f(peer(p + 4, r));
    } else {
#pragma unroll
      for (int s = 0; s < WK; s++)
        a += red[s][m][n], b += red[s][m][n + 1];
    }
    *(uint32_t *)(out + (size_t)m * N + n0 + n) = pack_bf16(a, b);
  }
  if (size > 1)
    cluster_sync();
}

// The bytes of W and nothing else: what a product can reach at most
template <int U>
__global__ __launch_bounds__(256) void read_only(const uint4 *__restrict__ W, uint32_t *out,
                                                 size_t n) {
  size_t i = (size_t)blockIdx.x * (256 * U) + threadIdx.x;
  uint4 v[U];
#pragma unroll
  for (int u = 0; u < U; u++)
    v[u] = i + u * 256 < n ? __ldg(W + i + u * 256) : make_uint4(0, 0, 0, 0);
  uint32_t x = 0;
#pragma unroll
  for (int u = 0; u < U; u++)
    x ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
  if (x == 0x12345679u)
    *out = x;
}
