// C[M,N] = A[M,K] * B, bf16 in, f32 accumulation, bf16 out. B is NxK (K-major) or KxN (N-major, if
// C::NMajorB). Every kernel takes one configuration structure C; defaults are in variants.py.
// Stages: of the ring. Consumers: warpgroups that multiply. ClusterM, ClusterN: of a cluster, with
// multicast. Persistent: blocks walk tiles. InFlight: groups of wgmma that a wait leaves.
// Epilogue 0: 4-byte stores; 1: TMA stores of StoreColumns columns from StoreBuffers buffers, or
// from the ring (StoreInRing); 2: 16-byte stores after a transpose in groups of four lanes.
// ProducerWarps: 4, or 1 without setmaxnreg. Arrivals: of a warpgroup at an empty mbarrier.
// ClusterScope: mbarriers with .release.cluster and .acquire.cluster.
#pragma once
#include "ptx.cuh"

template <class C> struct GemmSmem {
  static constexpr int A_BYTES = C::TileM * C::TileK * 2, B_BYTES = C::TileN * C::TileK * 2,
                       STAGE = A_BYTES + B_BYTES;
  static constexpr int EPI_BUF = 64 * C::StoreColumns * 2; // one chunk of one consumer
  static constexpr int EPI =
      C::Epilogue == 1 && !C::StoreInRing ? C::Consumers * C::StoreBuffers * EPI_BUF : 0;
  static constexpr int BAR = C::Stages * STAGE + EPI;
  static constexpr int TOTAL = BAR + 16 * C::Stages + 64;
};

// Grouped raster: `group` rows of tiles are walked column by column.
DEV void raster(int t, int tm, int tn, int group, int &m, int &n) {
  int width = group * tn, g = t / width, first = g * group, gs = min(tm - first, group),
      r = t - g * width;
  m = first + r % gs;
  n = r / gs;
}

// One k-block: MI x (BK/16) wgmmas of m64nBNk16.
template <class C, int MI>
DEV void mma_block(float (&acc)[MI][C::TileN / 2], uint32_t a, uint32_t b, int accumulate) {
#pragma unroll
  for (int kk = 0; kk < C::TileK / 16; kk++)
#pragma unroll
    for (int mi = 0; mi < MI; mi++) {
      uint64_t da = wgmma_desc(a + mi * 64 * 128 + kk * 32, 16, 1024);
      if constexpr (C::NMajorB)
        Wgmma<C::TileN>::ss_tb(acc[mi], da, wgmma_desc(b + kk * 2048, C::TileK * 128, 1024),
                               kk ? 1 : accumulate);
      else
        Wgmma<C::TileN>::ss(acc[mi], da, wgmma_desc(b + kk * 32, 16, 1024), kk ? 1 : accumulate);
    }
}

// Registers -> global, 4 bytes a store.
template <class C, int MI>
DEV void store_direct(float (&acc)[MI][C::TileN / 2], bf16 *out, int row0, int col0, int M, int N,
                      int tid) {
  int r = row0 + (tid >> 5) * 16 + ((tid & 31) >> 2), c = col0 + (tid & 3) * 2;
#pragma unroll
  for (int mi = 0; mi < MI; mi++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int row = r + mi * 64 + h * 8;
      if (row < M) {
        bf16 *p = out + (size_t)row * N + c;
#pragma unroll
        for (int j = 0; j < C::TileN / 8; j++)
          if (c + j * 8 < N)
            *(uint32_t *)(p + j * 8) =
                pack_bf16(acc[mi][4 * j + 2 * h], acc[mi][4 * j + 2 * h + 1]);
      }
    }
}

// Registers -> transpose in groups of four lanes -> global, 16 bytes a store, 64 contiguous bytes a
// row.
template <class C, int MI>
DEV void store_quad(float (&acc)[MI][C::TileN / 2], bf16 *out, int row0, int col0, int M, int N,
                    int tid) {
  int q = tid & 3, r = row0 + (tid >> 5) * 16 + ((tid & 31) >> 2), c = col0 + q * 8;
#pragma unroll
  for (int mi = 0; mi < MI; mi++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      int row = r + mi * 64 + h * 8;
      bf16 *p = out + (size_t)row * N + c;
#pragma unroll
      for (int j = 0; j < C::TileN / 8; j += 4) {
        uint32_t v[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
          v[i] = pack_bf16(acc[mi][4 * (j + i) + 2 * h], acc[mi][4 * (j + i) + 2 * h + 1]);
#pragma unroll
        for (int x = 1; x < 4; x *= 2)
#pragma unroll
          for (int i = 0; i < 4; i++)
            if (!(i & x)) {
              uint32_t got = __shfl_xor_sync(~0u, q & x ? v[i] : v[i | x], x);
              if (q & x)
                v[i] = got;
              else
                v[i | x] = got;
            }
        if (row < M && c + j * 8 < N)
          *(uint4 *)(p + j * 8) = make_uint4(v[0], v[1], v[2], v[3]);
      }
    }
}

// Registers -> stmatrix -> swizzled shared memory -> TMA store, in chunks of 64 x StoreColumns.
template <class C, int MI>
DEV void store_tma(float (&acc)[MI][C::TileN / 2], const CUtensorMap *mC, uint32_t buf, int row0,
                   int col0, int tid, int bar) {
  constexpr int BUF = GemmSmem<C>::EPI_BUF;
  int lane = tid & 31, wrow = (tid >> 5) * 16;
  uint32_t srow = wrow + (lane & 15),
           shalf = lane >> 4; // matrices 0,1: rows 0-7, 8-15 of chunk c; 2,3: of chunk c+1
#pragma unroll
  for (int mi = 0; mi < MI; mi++)
#pragma unroll
    for (int ch = 0; ch < C::TileN / C::StoreColumns; ch++) {
      uint32_t dst = buf + ((mi * (C::TileN / C::StoreColumns) + ch) % C::StoreBuffers) * BUF;
      if (tid == 0)
        bulk_wait_read<C::StoreBuffers - 1>();
      bar_sync(bar, 128);
#pragma unroll
      for (int j = 0; j < C::StoreColumns / 16; j++) {
        const float *d = &acc[mi][ch * (C::StoreColumns / 2) + 8 * j];
        uint32_t cc = (j * 2 + shalf) & 7, panel = j / 4;
        stmatrix_x4(dst + panel * 8192 + swz(srow, cc), pack_bf16(d[0], d[1]),
                    pack_bf16(d[2], d[3]), pack_bf16(d[4], d[5]), pack_bf16(d[6], d[7]));
      }
      fence_async_smem();
      bar_sync(bar, 128);
      if (tid == 0) {
        tma_store_3d(dst, mC, 0, row0 + mi * 64, (col0 + ch * C::StoreColumns) / 64);
        bulk_commit();
      }
    }
}

// Multistage, no roles: every warpgroup multiplies, thread 0 issues the copies Stages-1 blocks
// ahead
template <class C>
__global__ __launch_bounds__(C::Threads, C::BlocksPerSm) void gemm_ms(
    const __grid_constant__ CUtensorMap mA, const __grid_constant__ CUtensorMap mB,
    const __grid_constant__ CUtensorMap mC, bf16 *out, int M, int N, int K, int group) {
  using S = GemmSmem<C>;
  constexpr int MI = C::TileM / C::Consumers / 64;
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), full = base + S::BAR;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), tid = threadIdx.x & 127;
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::Stages; i++)
      mbar_init(full + 8 * i, 1);
    mbar_init_fence();
  }
  __syncthreads();
  int tm = (M + C::TileM - 1) / C::TileM, tn = (N + C::TileN - 1) / C::TileN,
      KB = (K + C::TileK - 1) / C::TileK, m, n;
  raster(blockIdx.x, tm, tn, group, m, n);
  auto issue = [&](int kb, int slot) {
    uint32_t a = base + slot * S::STAGE, b = a + S::A_BYTES, bar = full + 8 * slot;
    mbar_expect(bar, S::STAGE);
    tma_load_2d(a, &mA, bar, kb * C::TileK, m * C::TileM);
    if constexpr (C::NMajorB)
      tma_load_3d(b, &mB, bar, 0, kb * C::TileK, n * (C::TileN / 64));
    else
      tma_load_2d(b, &mB, bar, kb * C::TileK, n * C::TileN);
  };
  constexpr int AHEAD = C::InFlight ? C::Stages - 1 : C::Stages;
  bool warp0 = __shfl_sync(~0u, threadIdx.x >> 5, 0) == 0;
  if (warp0 && elect())
    for (int i = 0; i < AHEAD && i < KB; i++)
      issue(i, i);
  float acc[MI][C::TileN / 2];
  int slot = 0, phase = 0, ahead = AHEAD % C::Stages;
  for (int kb = 0; kb < KB; kb++) {
    mbar_wait(full + 8 * slot, phase);
    uint32_t a = base + slot * S::STAGE + wg * MI * 64 * 128,
             b = base + slot * S::STAGE + S::A_BYTES;
    wgmma_fence();
    mma_block<C>(acc, a, b, kb > 0);
    wgmma_commit();
    wgmma_wait<C::InFlight>(); // block kb-1 has been read
    __syncthreads();           // ... by everyone
    if (kb + AHEAD < KB && warp0 && elect())
      issue(kb + AHEAD, ahead);
    if (++ahead == C::Stages)
      ahead = 0;
    if (++slot == C::Stages)
      slot = 0, phase ^= 1;
  }
  wgmma_wait<0>();
  int row0 = m * C::TileM + wg * MI * 64, col0 = n * C::TileN;
  if constexpr (C::Epilogue == 1) {
    if constexpr (C::StoreInRing)
      __syncthreads(); // the ring is read by nobody any more
    store_tma<C>(acc, &mC,
                 base + (C::StoreInRing ? 0 : C::Stages * S::STAGE) +
                     wg * C::StoreBuffers * S::EPI_BUF,
                 row0, col0, tid, 1 + wg);
    if (tid == 0)
      bulk_wait<0>();
  } else if constexpr (C::Epilogue == 2)
    store_quad<C>(acc, out, row0, col0, M, N, tid);
  else
    store_direct<C>(acc, out, row0, col0, M, N, tid);
}

// No roles, persistent: the same loop over the flattened sequence of (tile, k-block), so that
// Stages-1 blocks of the next tile are in flight during the epilogue.
template <class C>
__global__ __launch_bounds__(C::Threads, 1) void gemm_mp(const __grid_constant__ CUtensorMap mA,
                                                         const __grid_constant__ CUtensorMap mB,
                                                         const __grid_constant__ CUtensorMap mC,
                                                         bf16 *out, int M, int N, int K,
                                                         int group) {
  using S = GemmSmem<C>;
  constexpr int MI = C::TileM / C::Consumers / 64, AHEAD = C::Stages - 1;
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), full = base + S::BAR;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), tid = threadIdx.x & 127;
  bool warp0 = __shfl_sync(~0u, threadIdx.x >> 5, 0) == 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::Stages; i++)
      mbar_init(full + 8 * i, 1);
    mbar_init_fence();
  }
  __syncthreads();
  int tm = (M + C::TileM - 1) / C::TileM, tn = (N + C::TileN - 1) / C::TileN,
      KB = (K + C::TileK - 1) / C::TileK, tiles = tm * tn;
  int lt = blockIdx.x, lkb = 0, lslot = 0, lm, ln; // the next block to load
  raster(lt, tm, tn, group, lm, ln);
  auto issue = [&] {
    if (lt >= tiles)
      return;
    if (warp0 && elect()) {
      uint32_t a = base + lslot * S::STAGE, b = a + S::A_BYTES, bar = full + 8 * lslot;
      mbar_expect(bar, S::STAGE);
      tma_load_2d(a, &mA, bar, lkb * C::TileK, lm * C::TileM);
      if constexpr (C::NMajorB)
        tma_load_3d(b, &mB, bar, 0, lkb * C::TileK, ln * (C::TileN / 64));
      else
        tma_load_2d(b, &mB, bar, lkb * C::TileK, ln * C::TileN);
    }
    if (++lslot == C::Stages)
      lslot = 0;
    if (++lkb == KB) {
      lkb = 0, lt += gridDim.x;
      raster(lt, tm, tn, group, lm, ln);
    }
  };
  for (int i = 0; i < AHEAD; i++)
    issue();
  float acc[MI][C::TileN / 2];
  int slot = 0, phase = 0;
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    int m, n;
    raster(t, tm, tn, group, m, n);
    for (int kb = 0; kb < KB; kb++) {
      mbar_wait(full + 8 * slot, phase);
      uint32_t a = base + slot * S::STAGE + wg * MI * 64 * 128,
               b = base + slot * S::STAGE + S::A_BYTES;
      wgmma_fence();
      mma_block<C>(acc, a, b, kb > 0);
      wgmma_commit();
      wgmma_wait<1>();
      __syncthreads();
      issue();
      if (++slot == C::Stages)
        slot = 0, phase ^= 1;
    }
    wgmma_wait<0>();
    int row0 = m * C::TileM + wg * MI * 64, col0 = n * C::TileN;
    if constexpr (C::Epilogue == 1)
      store_tma<C>(acc, &mC, base + C::Stages * S::STAGE + wg * C::StoreBuffers * S::EPI_BUF, row0,
                   col0, tid, 1 + wg);
    else
      store_quad<C>(acc, out, row0, col0, M, N, tid);
  }
  if constexpr (C::Epilogue == 1) {
    if (tid == 0)
      bulk_wait<0>();
  }
}

// Roles: Consumers consumer warpgroups and one producer (a warpgroup with setmaxnreg, or one warp)
// Persistent: grid of SM-many clusters, each walks tiles; rings go on across tiles, so the next
// tile's loads run under the epilogue.
template <class C>
__global__ __launch_bounds__(C::Threads, 1) void gemm_ws(const __grid_constant__ CUtensorMap mA,
                                                         const __grid_constant__ CUtensorMap mB,
                                                         const __grid_constant__ CUtensorMap mC,
                                                         bf16 *out, int M, int N, int K,
                                                         int group) {
  using S = GemmSmem<C>;
  constexpr int MI = C::TileM / C::Consumers / 64, CS = C::ClusterM * C::ClusterN;
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), full = base + S::BAR, empty = full + 8 * C::Stages;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), tid = threadIdx.x & 127;
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::Stages; i++) {
      mbar_init(full + 8 * i, 1);
      mbar_init(empty + 8 * i,
                C::Consumers * CS *
                    C::Arrivals); // 1: one arrival a consumer warpgroup of the cluster
    }
    mbar_init_fence();
  }
  if constexpr (CS > 1)
    cluster_sync();
  else
    __syncthreads();
  int rank = CS > 1 ? cluster_rank() : 0, cm = rank % C::ClusterM, cn = rank / C::ClusterM;
  uint16_t mask_a = 0, mask_b = ((1 << C::ClusterM) - 1)
                                << (cn * C::ClusterM); // who shares my rows of A, my columns of B
#pragma unroll
  for (int i = 0; i < C::ClusterN; i++)
    mask_a |= 1 << (cm + i * C::ClusterM);
  int tm = (M + C::TileM * C::ClusterM - 1) / (C::TileM * C::ClusterM),
      tn = (N + C::TileN * C::ClusterN - 1) / (C::TileN * C::ClusterN),
      KB = (K + C::TileK - 1) / C::TileK;
  int tiles = tm * tn, stride = gridDim.x / CS;

  if (wg == C::Consumers) { // ---- producer
    if constexpr (C::ProducerRegisters)
      reg_dec<C::ProducerRegisters>();
    if (tid < 32 && elect()) {
      int slot = 0, phase = 1, t = blockIdx.x / CS;
      do {
        int m, n;
        raster(t, tm, tn, group, m, n);
        m = (m * C::ClusterM + cm) * C::TileM, n = (n * C::ClusterN + cn) * C::TileN;
        for (int kb = 0; kb < KB; kb++) {
          uint32_t a = base + slot * S::STAGE, b = a + S::A_BYTES, bar = full + 8 * slot;
          if constexpr (C::ClusterScope)
            mbar_wait_cluster(empty + 8 * slot, phase);
          else
            mbar_wait(empty + 8 * slot, phase);
          mbar_expect(bar, S::STAGE);
          if constexpr (C::ClusterN == 1)
            tma_load_2d(a, &mA, bar, kb * C::TileK, m);
          else
            tma_load_2d_mc(a + cn * (S::A_BYTES / C::ClusterN), &mA, bar, mask_a, kb * C::TileK,
                           m + cn * (C::TileM / C::ClusterN));
          if constexpr (C::NMajorB) {
            if constexpr (C::ClusterM == 1)
              tma_load_3d(b, &mB, bar, 0, kb * C::TileK, n / 64);
            else
              tma_load_3d_mc(b + cm * (S::B_BYTES / C::ClusterM), &mB, bar, mask_b, 0,
                             kb * C::TileK, n / 64 + cm * (C::TileN / 64 / C::ClusterM));
          } else {
            if constexpr (C::ClusterM == 1)
              tma_load_2d(b, &mB, bar, kb * C::TileK, n);
            else
              tma_load_2d_mc(b + cm * (S::B_BYTES / C::ClusterM), &mB, bar, mask_b, kb * C::TileK,
                             n + cm * (C::TileN / C::ClusterM));
          }
          if (++slot == C::Stages)
            slot = 0, phase ^= 1;
        }
        t += stride;
      } while (C::Persistent && t < tiles);
    }
  } else { // ---- consumers
    if constexpr (C::ConsumerRegisters)
      reg_inc<C::ConsumerRegisters>();
    float acc[MI][C::TileN / 2];
    int slot = 0, phase = 0, prev = 0, t = blockIdx.x / CS;
    auto release = [&](int s) {
      if constexpr (CS == 1) {
        if (tid % (128 / C::Arrivals) == 0)
          mbar_arrive(empty + 8 * s);
      } else if constexpr (C::ClusterScope) {
        if (tid < CS)
          mbar_arrive_cluster_slow(empty + 8 * s, tid);
      } else {
        if (tid < CS)
          mbar_arrive_cluster(empty + 8 * s, tid);
      }
    };
    do {
      int m, n;
      raster(t, tm, tn, group, m, n);
      m = (m * C::ClusterM + cm) * C::TileM + wg * MI * 64, n = (n * C::ClusterN + cn) * C::TileN;
      for (int kb = 0; kb < KB; kb++) {
        if constexpr (C::ClusterScope)
          mbar_wait_cluster(full + 8 * slot, phase);
        else
          mbar_wait(full + 8 * slot, phase);
        uint32_t a = base + slot * S::STAGE + wg * MI * 64 * 128,
                 b = base + slot * S::STAGE + S::A_BYTES;
        wgmma_fence();
        mma_block<C>(acc, a, b, kb > 0);
        wgmma_commit();
        if constexpr (C::InFlight == 1) {
          wgmma_wait<1>();
          if (kb > 0)
            release(prev);
          prev = slot;
        } else {
          wgmma_wait<0>();
          release(slot);
        }
        if (++slot == C::Stages)
          slot = 0, phase ^= 1;
      }
      if constexpr (C::InFlight == 1) {
        wgmma_wait<0>();
        release(prev);
      }
      if constexpr (C::Epilogue == 2)
        store_quad<C>(acc, out, m, n, M, N, tid);
      else if constexpr (C::Epilogue)
        store_tma<C>(acc, &mC, base + C::Stages * S::STAGE + wg * C::StoreBuffers * S::EPI_BUF, m,
                     n, tid, 1 + wg);
      else
        store_direct<C>(acc, out, m, n, M, N, tid);
      t += stride;
    } while (C::Persistent && t < tiles);
    if constexpr (C::Epilogue) {
      if (tid == 0)
        bulk_wait<0>();
    }
  }
  if constexpr (CS > 1)
    cluster_sync(); // peers may still arrive here
}

// Ping-pong: each of two consumers owns whole tiles, one multiplies while the other stores
template <class C>
__global__ __launch_bounds__(C::Threads, 1) void gemm_pp(const __grid_constant__ CUtensorMap mA,
                                                         const __grid_constant__ CUtensorMap mB,
                                                         const __grid_constant__ CUtensorMap mC,
                                                         bf16 *out, int M, int N, int K,
                                                         int group) {
  using S = GemmSmem<C>;
  constexpr int MI = C::TileM / 64, CS = C::ClusterM * C::ClusterN;
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), full = base + S::BAR, empty = full + 8 * C::Stages;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), tid = threadIdx.x & 127;
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::Stages; i++) {
      mbar_init(full + 8 * i, 1);
      mbar_init(empty + 8 * i, CS); // a slot has one reader a CTA
    }
    mbar_init_fence();
  }
  if constexpr (CS > 1)
    cluster_sync();
  else
    __syncthreads();
  int rank = CS > 1 ? cluster_rank() : 0, cm = rank % C::ClusterM, cn = rank / C::ClusterM;
  uint16_t mask_a = 0, mask_b = ((1 << C::ClusterM) - 1)
                                << (cn * C::ClusterM); // who shares my rows of A, my columns of B
#pragma unroll
  for (int i = 0; i < C::ClusterN; i++)
    mask_a |= 1 << (cm + i * C::ClusterM);
  int tm = (M + C::TileM * C::ClusterM - 1) / (C::TileM * C::ClusterM),
      tn = (N + C::TileN * C::ClusterN - 1) / (C::TileN * C::ClusterN),
      KB = (K + C::TileK - 1) / C::TileK;
  int tiles = tm * tn, stride = gridDim.x / CS;
  if (wg == 2) {
    if constexpr (C::ProducerRegisters)
      reg_dec<C::ProducerRegisters>();
    if (tid < 32 && elect()) {
      int slot = 0, phase = 1;
      for (int t = blockIdx.x / CS; t < tiles; t += stride) {
        int m, n;
        raster(t, tm, tn, group, m, n);
        m = (m * C::ClusterM + cm) * C::TileM, n = (n * C::ClusterN + cn) * C::TileN;
        for (int kb = 0; kb < KB; kb++) {
          uint32_t a = base + slot * S::STAGE, b = a + S::A_BYTES, bar = full + 8 * slot;
          if constexpr (C::ClusterScope)
            mbar_wait_cluster(empty + 8 * slot, phase);
          else
            mbar_wait(empty + 8 * slot, phase);
          mbar_expect(bar, S::STAGE);
          if constexpr (C::ClusterN == 1)
            tma_load_2d(a, &mA, bar, kb * C::TileK, m);
          else
            tma_load_2d_mc(a + cn * (S::A_BYTES / C::ClusterN), &mA, bar, mask_a, kb * C::TileK,
                           m + cn * (C::TileM / C::ClusterN));
          if constexpr (C::NMajorB)
            tma_load_3d(b, &mB, bar, 0, kb * C::TileK, n / 64);
          else if constexpr (C::ClusterM == 1)
            tma_load_2d(b, &mB, bar, kb * C::TileK, n);
          else
            tma_load_2d_mc(b + cm * (S::B_BYTES / C::ClusterM), &mB, bar, mask_b, kb * C::TileK,
                           n + cm * (C::TileN / C::ClusterM));
          if (++slot == C::Stages)
            slot = 0, phase ^= 1;
        }
      }
    }
  } else {
    if constexpr (C::ConsumerRegisters)
      reg_inc<C::ConsumerRegisters>();
    float acc[MI][C::TileN / 2];
    auto release = [&](int s) {
      if constexpr (CS == 1) {
        if (tid == 0)
          mbar_arrive(empty + 8 * s);
      } else if constexpr (C::ClusterScope) {
        if (tid < CS)
          mbar_arrive_cluster_slow(empty + 8 * s, tid);
      } else {
        if (tid < CS)
          mbar_arrive_cluster(empty + 8 * s, tid);
      }
    };
    int pos = wg * KB; // position in the ring: the other warpgroup's blocks are skipped
    if (wg == 1)
      bar_arrive(4, 256); // warpgroup 0 may multiply first
    for (int t = blockIdx.x / CS + wg * stride; t < tiles; t += 2 * stride) {
      int m, n;
      raster(t, tm, tn, group, m, n);
      m = (m * C::ClusterM + cm) * C::TileM, n = (n * C::ClusterN + cn) * C::TileN;
      int slot = pos % C::Stages, phase = (pos / C::Stages) & 1, prev = 0;
      bar_sync(4 + wg, 256);
      for (int kb = 0; kb < KB; kb++) {
        if constexpr (C::ClusterScope)
          mbar_wait_cluster(full + 8 * slot, phase);
        else
          mbar_wait(full + 8 * slot, phase);
        uint32_t a = base + slot * S::STAGE, b = a + S::A_BYTES;
        wgmma_fence();
        mma_block<C>(acc, a, b, kb > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (kb > 0)
          release(prev);
        prev = slot;
        if (++slot == C::Stages)
          slot = 0, phase ^= 1;
      }
      bar_arrive(4 + (wg ^ 1), 256);
      wgmma_wait<0>();
      release(prev);
      pos += 2 * KB;
      if constexpr (C::Epilogue == 2)
        store_quad<C>(acc, out, m, n, M, N, tid);
      else if constexpr (C::Epilogue)
        store_tma<C>(acc, &mC, base + C::Stages * S::STAGE + wg * C::StoreBuffers * S::EPI_BUF, m,
                     n, tid, 1 + wg);
      else
        store_direct<C>(acc, out, m, n, M, N, tid);
    }
    if constexpr (C::Epilogue) {
      if (tid == 0)
        bulk_wait<0>();
    }
  }
  if constexpr (CS > 1)
    cluster_sync();
}
