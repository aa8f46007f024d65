// Skinny products C[M,N] = X[M,K] * W, bf16, f32 sums; W is NxK (K-major) or KxN (C::NMajorW). M is
// small, so the weights are the 64-row operand of wgmma and X the narrow one: the accumulator holds
// C^T.
#pragma once
#include "ptx.cuh"
#include "wgmma2.cuh"

DEV void tma_load_2d_l2(uint32_t dst, const CUtensorMap *m, uint32_t bar, int c0, int c1,
                        uint64_t policy) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
               "L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(dst),
               "l"((uint64_t)m), "r"(bar), "r"(c0), "r"(c1), "l"(policy)
               : "memory");
}
DEV void tma_load_3d_l2(uint32_t dst, const CUtensorMap *m, uint32_t bar, int c0, int c1, int c2,
                        uint64_t policy) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
               "L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(dst),
               "l"((uint64_t)m), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "l"(policy)
               : "memory");
}
// L2 policies of W and X: normal, or weights first and X last to be evicted
DEV uint64_t policy_w(int hint) { return hint ? 0x12F0000000000000 : 0x1000000000000000; }
DEV uint64_t policy_x(int hint) { return hint ? 0x14F0000000000000 : 0x1000000000000000; }
DEV void stmatrix_x2_trans(uint32_t a, uint32_t r0, uint32_t r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], {%1, %2};" ::"r"(a),
               "r"(r0), "r"(r1)
               : "memory");
}
DEV uint4 lds_u4(uint32_t a) {
  uint4 v;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(a)
               : "memory");
  return v;
}
DEV float4 lds_f4(uint32_t a) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(a)
               : "memory");
  return v;
}
DEV void sts_f4(uint32_t a, float4 v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(a), "f"(v.x), "f"(v.y), "f"(v.z),
               "f"(v.w)
               : "memory");
}
DEV uint32_t peer(uint32_t a, uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank));
  return r;
}
DEV float4 dsm_f4(uint32_t a) {
  float4 v;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(a)
               : "memory");
  return v;
}
DEV float dsm_f(uint32_t a) {
  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(a) : "memory");
  return v;
}
DEV uint32_t cluster_size() {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r));
  return r;
}
DEV uint32_t atom_inc_acq_rel(void *p, uint32_t limit) {
  uint32_t r;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(r)
               : "l"(p), "r"(limit)
               : "memory");
  return r;
}

template <class C> struct SkSmem {
  static constexpr int BK = 64 * C::Panels, W_BYTES = C::WeightRows * BK * 2,
                       X_BYTES = C::Columns * BK * 2, STAGE = W_BYTES + X_BYTES;
  static constexpr int CH = C::Columns < 64 ? C::Columns : 64,
                       ROW = C::WeightRows * 2 +
                             16; // staged rows of C, padded against bank conflicts
  static constexpr int EPI = (CH * ROW + 127) / 128 * 128, BAR = C::Stages * STAGE + EPI,
                       TOTAL = BAR + 8 * C::Stages + 64;
  static constexpr int NJ = C::Columns / 8, MI = C::WeightRows / C::Consumers / 64,
                       THREADS = C::Consumers * 128;
  static constexpr int PART = C::WeightRows * C::Columns; // floats of one partial tile
};

template <class C>
DEV void sk_mma(float (&acc)[C::WeightRows / C::Consumers / 64][C::Columns / 2], uint32_t w,
                uint32_t x, int wg, int accumulate) {
  using S = SkSmem<C>;
#pragma unroll
  for (int p = 0; p < C::Panels; p++)
#pragma unroll
    for (int kk = 0; kk < 4; kk++)
#pragma unroll
      for (int mi = 0; mi < S::MI; mi++) {
        int row = wg * S::MI + mi, sc = p || kk ? 1 : accumulate;
        uint64_t dx = wgmma_desc(x + p * C::Columns * 128 + kk * 32, 16, 1024);
        if constexpr (C::NMajorW)
          Wg2<C::Columns>::ss_ta(
              acc[mi], wgmma_desc(w + row * S::BK * 128 + (p * 4 + kk) * 2048, S::BK * 128, 1024),
              dx, sc);
        else
          Wg2<C::Columns>::ss(
              acc[mi], wgmma_desc(w + p * C::WeightRows * 128 + row * 8192 + kk * 32, 16, 1024), dx,
              sc);
      }
}
template <class C>
DEV void sk_issue(const CUtensorMap *mX, const CUtensorMap *mW, uint32_t stage, uint32_t bar,
                  int kb, int n0, int m0, int hint) {
  using S = SkSmem<C>;
  mbar_expect(bar, S::STAGE);
  if constexpr (C::NMajorW) {
    tma_load_3d_l2(stage, mW, bar, 0, kb * S::BK, n0 / 64, policy_w(hint));
  } else {
#pragma unroll
    for (int p = 0; p < C::Panels; p++)
      tma_load_2d_l2(stage + p * C::WeightRows * 128, mW, bar, kb * S::BK + p * 64, n0,
                     policy_w(hint));
  }
#pragma unroll
  for (int p = 0; p < C::Panels; p++)
    tma_load_2d_l2(stage + S::W_BYTES + p * C::Columns * 128, mX, bar, kb * S::BK + p * 64, m0,
                   policy_x(hint));
}
// One 8-column group of the fragment (64 rows of C^T a warpgroup) -> 8 rows of C in shared memory.
template <class C>
DEV void sk_stage(uint32_t buf, int j, float a, float b, float c, float d, int row) {
  int lane = threadIdx.x & 31, n = row * 64 + ((threadIdx.x >> 5) & 3) * 16 + (lane & 8);
  stmatrix_x2_trans(buf + (j * 8 + (lane & 7)) * SkSmem<C>::ROW + n * 2, pack_bf16(a, b),
                    pack_bf16(c, d));
}
// Staged rows -> global, 16 bytes a store.
template <class C>
DEV void sk_copy(uint32_t buf, bf16 *out, int rows, int m0, int n0, int M, int N) {
  for (int i = threadIdx.x; i < rows * (C::WeightRows / 8); i += SkSmem<C>::THREADS) {
    int m = i / (C::WeightRows / 8), c = i % (C::WeightRows / 8) * 8;
    if (m0 + m < M && n0 + c < N)
      *(uint4 *)(out + (size_t)(m0 + m) * N + n0 + c) = lds_u4(buf + m * SkSmem<C>::ROW + c * 2);
  }
}

// Flattened sequence of (tile, k-block), cut into gridDim.x equal ranges. grid = tiles: plain;
// tiles * S: split-K; any other grid: stream-K.
// A tile that is cut goes through an f32 workspace; the last block to arrive sums the parts in the
// order of k, so the result does not depend on timing.
template <class C>
__global__ __launch_bounds__(C::Consumers * 128,
                             C::BlocksPerSm) void skinny_sk(const __grid_constant__ CUtensorMap mX,
                                                            const __grid_constant__ CUtensorMap mW,
                                                            bf16 *out, float4 *ws, uint32_t *cnt,
                                                            int M, int N, int K, int hint) {
  using S = SkSmem<C>;
  constexpr int MI = S::MI, NJ = S::NJ;
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), buf = base + C::Stages * S::STAGE, full = base + S::BAR;
  volatile uint32_t *flag = (volatile uint32_t *)(smem + S::BAR + 8 * C::Stages);
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0);
  bool warp0 = __shfl_sync(~0u, threadIdx.x >> 5, 0) == 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::Stages; i++)
      mbar_init(full + 8 * i, 1);
    mbar_init_fence();
  }
  __syncthreads();
  int tm = (M + C::Columns - 1) / C::Columns, tn = (N + C::WeightRows - 1) / C::WeightRows,
      KB = (K + S::BK - 1) / S::BK, total = tm * tn * KB;
  auto start = [&](int b) { return (int)((long long)b * total / gridDim.x); };
  auto owner = [&](int u) { return (int)(((long long)(u + 1) * gridDim.x - 1) / total); };
  int u0 = start(blockIdx.x), u1 = start(blockIdx.x + 1), lu = u0, lt = u0 / KB, lkb = u0 - lt * KB,
      lslot = 0;
  auto issue = [&] {
    if (lu >= u1)
      return;
    if (warp0 && elect())
      sk_issue<C>(&mX, &mW, base + lslot * S::STAGE, full + 8 * lslot, lkb, lt / tm * C::WeightRows,
                  lt % tm * C::Columns, hint);
    if (++lslot == C::Stages)
      lslot = 0;
    lu++;
    if (++lkb == KB)
      lkb = 0, lt++;
  };
  for (int i = 0; i < C::Stages - 1; i++)
    issue();
  float acc[MI][C::Columns / 2];
  int slot = 0, phase = 0;
  for (int u = u0; u < u1;) {
    int t = u / KB, n = min(KB - (u - t * KB), u1 - u);
    for (int kb = 0; kb < n; kb++) {
      mbar_wait(full + 8 * slot, phase);
      uint32_t w = base + slot * S::STAGE, x = w + S::W_BYTES;
      wgmma_fence();
      sk_mma<C>(acc, w, x, wg, kb > 0);
      wgmma_commit();
      wgmma_wait<1>();
      __syncthreads();
      issue();
      if (++slot == C::Stages)
        slot = 0, phase ^= 1;
    }
    wgmma_wait<0>();
    bool mine = true;
    if (n < KB) {
      float4 *p = ws + (size_t)(blockIdx.x * 2 + (u != u0)) * (S::PART / 4) + threadIdx.x;
#pragma unroll
      for (int i = 0; i < MI * NJ; i++)
        p[i * S::THREADS] = make_float4(acc[i / NJ][i % NJ * 4], acc[i / NJ][i % NJ * 4 + 1],
                                        acc[i / NJ][i % NJ * 4 + 2], acc[i / NJ][i % NJ * 4 + 3]);
      int first = owner(t * KB), last = owner(t * KB + KB - 1);
      __syncthreads();
      if (threadIdx.x == 0)
        *flag = atom_inc_acq_rel(cnt + t, last - first) ==
                last - first; // wraps to 0 for the next launch
      __syncthreads();
      mine = *flag;
      if (mine) {
#pragma unroll
        for (int mi = 0; mi < MI; mi++)
#pragma unroll
          for (int j = 0; j < C::Columns / 2; j++)
            acc[mi][j] = 0;
        constexpr int G = MI * NJ < 8 ? MI * NJ : 8, UB = 8 / G; // 8 loads of 16 bytes in flight
#pragma unroll UB
        for (int b = first; b <= last; b++) {
          const float4 *q =
              ws + (size_t)(b * 2 + (start(b) < t * KB)) * (S::PART / 4) + threadIdx.x;
#pragma unroll
          for (int i = 0; i < MI * NJ; i++) {
            if (i && i % G == 0)
              asm volatile("" ::: "memory");
            float4 v = __ldcg(q + i * S::THREADS);
            float *a = &acc[i / NJ][i % NJ * 4];
            a[0] += v.x, a[1] += v.y, a[2] += v.z, a[3] += v.w;
          }
        }
      }
    }
    if (mine) {
#pragma unroll
      for (int ch = 0; ch < C::Columns / S::CH; ch++) {
#pragma unroll
        for (int mi = 0; mi < MI; mi++)
#pragma unroll
          for (int j = 0; j < S::CH / 8; j++) {
            const float *d = &acc[mi][(ch * (S::CH / 8) + j) * 4];
            sk_stage<C>(buf, j, d[0], d[1], d[2], d[3], wg * MI + mi);
          }
        __syncthreads();
        sk_copy<C>(buf, out, S::CH, t % tm * C::Columns + ch * S::CH, t / tm * C::WeightRows, M, N);
        __syncthreads();
      }
    }
    u += n;
  }
}

// Split-K over a cluster: every block of the cluster multiplies its part of K, parts are summed
// through distributed shared memory. Parts lie in the drained ring; block r sums and stores the
// r-th share of the rows of C.
template <class C>
__global__ __launch_bounds__(C::Consumers * 128,
                             C::BlocksPerSm) void skinny_cl(const __grid_constant__ CUtensorMap mX,
                                                            const __grid_constant__ CUtensorMap mW,
                                                            bf16 *out, int M, int N, int K,
                                                            int hint) {
  using S = SkSmem<C>;
  constexpr int MI = S::MI, NJ = S::NJ;
  static_assert(S::PART * 4 <= C::Stages * S::STAGE, "part must fit the ring");
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), buf = base + C::Stages * S::STAGE, full = base + S::BAR;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0);
  bool warp0 = __shfl_sync(~0u, threadIdx.x >> 5, 0) == 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::Stages; i++)
      mbar_init(full + 8 * i, 1);
    mbar_init_fence();
  }
  __syncthreads();
  int rank = cluster_rank(), size = cluster_size();
  int tm = (M + C::Columns - 1) / C::Columns, KB = (K + S::BK - 1) / S::BK, t = blockIdx.x / size,
      n0 = t / tm * C::WeightRows, m0 = t % tm * C::Columns;
  int k0 = rank * KB / size, k1 = (rank + 1) * KB / size, lkb = k0, lslot = 0;
  auto issue = [&] {
    if (lkb >= k1)
      return;
    if (warp0 && elect())
      sk_issue<C>(&mX, &mW, base + lslot * S::STAGE, full + 8 * lslot, lkb, n0, m0, hint);
    if (++lslot == C::Stages)
      lslot = 0;
    lkb++;
  };
  for (int i = 0; i < C::Stages - 1; i++)
    issue();
  float acc[MI][C::Columns / 2];
  int slot = 0, phase = 0;
  for (int kb = k0; kb < k1; kb++) {
    mbar_wait(full + 8 * slot, phase);
    uint32_t w = base + slot * S::STAGE, x = w + S::W_BYTES;
    wgmma_fence();
    sk_mma<C>(acc, w, x, wg, kb > k0);
    wgmma_commit();
    wgmma_wait<1>();
    __syncthreads();
    issue();
    if (++slot == C::Stages)
      slot = 0, phase ^= 1;
  }
  wgmma_wait<0>();
  __syncthreads(); // the ring is drained: it now holds the part, [j][mi][thread]
#pragma unroll
  for (int j = 0; j < NJ; j++)
#pragma unroll
    for (int mi = 0; mi < MI; mi++)
      sts_f4(
          base + ((j * MI + mi) * S::THREADS + threadIdx.x) * 16,
          make_float4(acc[mi][4 * j], acc[mi][4 * j + 1], acc[mi][4 * j + 2], acc[mi][4 * j + 3]));
  cluster_sync();
  int j0 = rank * NJ / size, j1 = (rank + 1) * NJ / size;
  for (int jc = j0; jc < j1; jc += S::CH / 8) {
    int je = min(j1, jc + S::CH / 8);
    for (int j = jc; j < je; j++)
#pragma unroll
      for (int mi = 0; mi < MI; mi++) {
        uint32_t a = base + ((j * MI + mi) * S::THREADS + threadIdx.x) * 16;
        float4 s = make_float4(0, 0, 0, 0);
#pragma unroll 4
        for (int r = 0; r < size; r++) {
          float4 v = dsm_f4(peer(a, r));
          s.x += v.x, s.y += v.y, s.z += v.z, s.w += v.w;
        }
        sk_stage<C>(buf, j - jc, s.x, s.y, s.z, s.w, wg * MI + mi);
      }
    __syncthreads();
    sk_copy<C>(buf, out, (je - jc) * 8, m0 + jc * 8, n0, M, N);
    __syncthreads();
  }
  cluster_sync(); // nobody leaves while its part is read
}
