// C[M,N] = sa * sb * A[M,K] * B[N,K]^T, e4m3 in, f32 sums, bf16 out; persistent over the flattened
// sequence of (tile, k-block); a k-block is 128 of K = one 128-byte swizzled row.
// Promotion 0: the tensor core's accumulator runs through all of K. Promotion 1: every 128 of K is
// summed from zero in a temporary of 64 x TempColumns and added to f32 registers. Promotion 2: two
// temporaries, the next product runs while the last is added.
// EmptyBarriers 0: one bar.sync per k-block; 1: an empty mbarrier per slot, for which the loading
// thread alone waits, so that warpgroups may drift.
// PingPong 1: named barriers make the two warpgroups issue alternately; 2: the other may issue when
// half of this one's product is done. ClusterM 2: cluster of two row tiles, B multicast.
// RoleWarps: so many more warps, the first of which loads; 4: with setmaxnreg 40/232.
#pragma once
#include "gemm.cuh"
#include "wgmma2.cuh"

template <int R>
DEV void keep(float (&d)[R]) { // registers written by wgmma are not read above this line
#pragma unroll
  for (int i = 0; i < R; i++)
    asm volatile("" : "+f"(d[i])::"memory");
}

template <class C>
__global__ __launch_bounds__(C::Consumers * 128 + C::RoleWarps * 32,
                             1) void gemm_f8(const __grid_constant__ CUtensorMap mA,
                                             const __grid_constant__ CUtensorMap mB,
                                             const __grid_constant__ CUtensorMap mC,
                                             const float *sa, const float *sb, int M, int N, int K,
                                             int group) {
  using S = GemmSmem<C>; // BK = 64 two-byte elements = 128 bytes
  constexpr int MI = C::TileM / C::Consumers / 64, WN = C::TempColumns, NW = C::TileN / WN,
                AHEAD = C::Promotion == 2 && !C::EmptyBarriers  ? C::Stages
                        : C::EmptyBarriers && C::Promotion != 1 ? C::Stages - 2
                                                                : C::Stages - 1,
                CM = C::ClusterM;
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), full = base + S::BAR, empty = full + 8 * C::Stages;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), tid = threadIdx.x & 127;
  bool loader = __shfl_sync(~0u, threadIdx.x >> 5, 0) == (C::RoleWarps ? C::Consumers * 4 : 0);
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::Stages; i++)
      mbar_init(full + 8 * i, 1), mbar_init(empty + 8 * i, C::Consumers * CM);
    mbar_init_fence();
  }
  if constexpr (CM > 1)
    cluster_sync();
  else
    __syncthreads();
  int cm = CM > 1 ? cluster_rank() : 0, stride = gridDim.x / CM, t0 = blockIdx.x / CM;
  int tm = (M + C::TileM * CM - 1) / (C::TileM * CM), tn = (N + C::TileN - 1) / C::TileN,
      KB = (K + 127) / 128, tiles = tm * tn;
  int lt = t0, lkb = 0, lslot = 0, lphase = 1, lm, ln;
  raster(lt, tm, tn, group, lm, ln);
  auto issue = [&] {
    if (lt >= tiles)
      return;
    if (loader && elect()) {
      uint32_t a = base + lslot * S::STAGE, b = a + S::A_BYTES, bar = full + 8 * lslot;
      if constexpr (C::EmptyBarriers)
        mbar_wait(empty + 8 * lslot, lphase);
      mbar_expect(bar, S::STAGE);
      tma_load_2d(a, &mA, bar, lkb * 128, (lm * CM + cm) * C::TileM);
      if constexpr (CM == 1)
        tma_load_2d(b, &mB, bar, lkb * 128, ln * C::TileN);
      else
        tma_load_2d_mc(b + cm * (S::B_BYTES / CM), &mB, bar, (1 << CM) - 1, lkb * 128,
                       ln * C::TileN + cm * (C::TileN / CM));
    }
    if (++lslot == C::Stages)
      lslot = 0, lphase ^= 1;
    if (++lkb == KB) {
      lkb = 0, lt += stride;
      raster(lt, tm, tn, group, lm, ln);
    }
  };
  auto release = [&](int s) {
    if constexpr (CM == 1) {
      if (tid == 0)
        mbar_arrive(empty + 8 * s);
    } else {
      if (tid < CM)
        mbar_arrive_cluster(empty + 8 * s, tid);
    }
  };
  if constexpr (C::RoleWarps) {
    if (wg == C::Consumers) {
      if constexpr (C::RoleWarps == 4)
        reg_dec<40>();
      if (loader)
        while (lt < tiles)
          issue();
      if constexpr (CM > 1)
        cluster_sync();
      return;
    }
    if constexpr (C::RoleWarps == 4)
      reg_inc<232>();
  } else {
    for (int i = 0; i < AHEAD; i++)
      issue();
  }
  auto refill = [&] {
    if constexpr (!C::RoleWarps)
      issue();
  };
  if constexpr (C::PingPong) {
    if (wg == 1)
      bar_arrive(4, 256);
  }
  float scale = __ldg(sa) * __ldg(sb);
  float acc[MI][C::TileN / 2];
  int slot = 0, phase = 0, prev = 0;
  auto advance = [&] {
    prev = slot;
    if (++slot == C::Stages)
      slot = 0, phase ^= 1;
  };
  for (int t = t0; t < tiles; t += stride) {
    int m, n;
    raster(t, tm, tn, group, m, n);
    if constexpr (C::Promotion == 0) {
      for (int kb = 0; kb < KB; kb++) {
        mbar_wait(full + 8 * slot, phase);
        uint32_t a = base + slot * S::STAGE + wg * MI * 8192,
                 b = base + slot * S::STAGE + S::A_BYTES;
        wgmma_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
#pragma unroll
          for (int mi = 0; mi < MI; mi++)
            Wg2<C::TileN>::f8(acc[mi], wgmma_desc(a + mi * 8192 + kk * 32, 16, 1024),
                              wgmma_desc(b + kk * 32, 16, 1024), kk ? 1 : kb > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if constexpr (C::EmptyBarriers) {
          if (kb > 0)
            release(prev);
        } else
          __syncthreads();
        refill();
        advance();
      }
      wgmma_wait<0>();
      if constexpr (C::EmptyBarriers)
        release(prev);
    } else if constexpr (C::Promotion == 1) {
#pragma unroll
      for (int mi = 0; mi < MI; mi++)
#pragma unroll
        for (int i = 0; i < C::TileN / 2; i++)
          acc[mi][i] = 0;
      for (int kb = 0; kb < KB; kb++) {
        mbar_wait(full + 8 * slot, phase);
        uint32_t a = base + slot * S::STAGE + wg * MI * 8192,
                 b = base + slot * S::STAGE + S::A_BYTES;
        float tmp[WN / 2];
#pragma unroll
        for (int w = 0; w < MI * NW; w++) {
          int mi = w / NW, nw = w % NW;
          if constexpr (C::PingPong)
            bar_sync(4 + wg, 256);
          wgmma_fence();
#pragma unroll
          for (int kk = 0; kk < 4; kk++) {
            Wg2<WN>::f8(tmp, wgmma_desc(a + mi * 8192 + kk * 32, 16, 1024),
                        wgmma_desc(b + nw * WN * 128 + kk * 32, 16, 1024), kk > 0);
            if (C::PingPong == 2 && kk == 1)
              wgmma_commit();
          }
          wgmma_commit();
          if constexpr (C::PingPong == 2)
            wgmma_wait<1>(); // half is done: the other's product now queues behind the second half
          if constexpr (C::PingPong)
            bar_arrive(4 + (wg ^ 1), 256);
          wgmma_wait<0>();
          keep(tmp);
          if (w == MI * NW - 1) {
            if constexpr (C::EmptyBarriers)
              release(slot);
            else
              __syncthreads();
            refill();
          }
#pragma unroll
          for (int i = 0; i < WN / 2; i++)
            acc[mi][nw * (WN / 2) + i] += tmp[i];
        }
        advance();
      }
    } else {
      static_assert(C::Promotion != 2 || (MI == 1 && NW == 1),
                    "two temporaries: one wave a k-block");
      float t0[WN / 2], t1[WN / 2];
#pragma unroll
      for (int i = 0; i < C::TileN / 2; i++)
        acc[0][i] = 0;
      auto mul = [&](float(&d)[WN / 2]) {
        mbar_wait(full + 8 * slot, phase);
        uint32_t a = base + slot * S::STAGE + wg * 8192, b = base + slot * S::STAGE + S::A_BYTES;
        wgmma_fence();
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
          Wg2<WN>::f8(d, wgmma_desc(a + kk * 32, 16, 1024), wgmma_desc(b + kk * 32, 16, 1024),
                      kk > 0);
        wgmma_commit();
        advance();
      };
      auto add = [&](float(&d)[WN / 2]) {
        keep(d);
#pragma unroll
        for (int i = 0; i < WN / 2; i++)
          acc[0][i] += d[i];
      };
      for (int kb = 0; kb + 1 < KB;
           kb +=
           // both are waited for inside: carried over the back edge, ptxas serialises them (C7514)
           2) {
        int s0 = slot;
        mul(t0);
        int s1 = slot;
        mul(t1);
        wgmma_wait<1>();
        if constexpr (C::EmptyBarriers) {
          release(s0);
          refill();
        }
        add(t0);
        wgmma_wait<0>();
        if constexpr (C::EmptyBarriers) {
          release(s1);
          refill();
        } else {
          __syncthreads();
          refill();
          refill();
        }
        add(t1);
      }
      if (KB & 1) {
        int s0 = slot;
        mul(t0);
        wgmma_wait<0>();
        if constexpr (C::EmptyBarriers)
          release(s0);
        else
          __syncthreads();
        refill();
        add(t0);
      }
    }
#pragma unroll
    for (int mi = 0; mi < MI; mi++)
#pragma unroll
      for (int i = 0; i < C::TileN / 2; i++)
        acc[mi][i] *= scale;
    store_tma<C>(acc, &mC, base + C::Stages * S::STAGE + wg * C::StoreBuffers * S::EPI_BUF,
                 (m * CM + cm) * C::TileM + wg * MI * 64, n * C::TileN, tid, 1 + wg);
  }
  if (tid == 0)
    bulk_wait<0>();
  if constexpr (CM > 1)
    cluster_sync();
}
