// Attention without roles, but with the overlap of attn_ws: thread 0 refills a slot one step after
// it was released (mbarriers, no block-wide barrier in the loop), so that the warpgroups may drift
// apart.
#pragma once
#include "attention.cuh"
template <class C>
__global__ __launch_bounds__(C::Threads, C::BlocksPerSm) void attn_nr(
    const __grid_constant__ CUtensorMap mQ, const __grid_constant__ CUtensorMap mK,
    const __grid_constant__ CUtensorMap mV, const __grid_constant__ CUtensorMap mO, float *lse,
    int *counter, int BH, int S, int hg, float scale) {
  using M = AttnSmem<C>;
  constexpr int BM = 64 * C::Consumers;
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), q_full = base + M::BAR, k_full = q_full + 16,
           k_empty = k_full + 8 * C::Stages, v_full = k_empty + 8 * C::Stages,
           v_empty = v_full + 8 * C::Stages;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), tid = threadIdx.x & 127;
  bool warp0 = __shfl_sync(~0u, threadIdx.x >> 5, 0) ==
               0; // elect, not "thread 0": ptxas else loops over lanes around each TMA
  if (threadIdx.x == 0) {
    mbar_init(q_full, 1);
    for (int i = 0; i < C::Stages; i++)
      mbar_init(k_full + 8 * i, 1), mbar_init(v_full + 8 * i, 1),
          mbar_init(k_empty + 8 * i, C::Consumers), mbar_init(v_empty + 8 * i, C::Consumers);
    mbar_init_fence();
  }
  __syncthreads();
  int nm = (S + BM - 1) / BM, mt, bh;
  attn_tile(blockIdx.x, nm, hg, mt, bh);
  int q0 = mt * BM,
      nb = C::Causal ? (min(q0 + BM, S) + C::TileN - 1) / C::TileN : (S + C::TileN - 1) / C::TileN;
  auto load_k = [&](int i) {
    int s = i % C::Stages;
    mbar_expect(k_full + 8 * s, M::KV);
    tma_load_4d(base + M::K0 + s * M::KV, &mK, k_full + 8 * s, 0, (nb - 1 - i) * C::TileN, 0, bh);
  };
  auto load_v = [&](int i) {
    int s = i % C::Stages;
    mbar_expect(v_full + 8 * s, M::KV);
    tma_load_4d(base + M::V0 + s * M::KV, &mV, v_full + 8 * s, 0, (nb - 1 - i) * C::TileN, 0, bh);
  };
  if (warp0 && elect()) {
    load_k(0);
    mbar_expect(q_full, M::Q);
    for (int i = 0; i < C::Consumers; i++)
      tma_load_4d(base + i * M::Q_WG, &mQ, q_full, 0, q0 + i * 64, 0, bh);
    for (int i = 1; i < C::Stages && i < nb; i++)
      load_k(i), load_v(i - 1);
    if (C::Stages <= nb)
      load_v(C::Stages - 1);
    else
      load_v(nb - 1);
  }
  float s[C::TileN / 2], o[C::HeadDim / 2], m[2], l[2], alpha[2], c = scale * 1.4426950408889634f;
  uint32_t p[C::TileN / 4], q = base + wg * M::Q_WG;
  int row0 = q0 + wg * 64, row = row0 + (tid >> 5) * 16 + (tid & 31) / 4, colt = (tid & 3) * 2;
  int clear = C::Causal ? (row0 + 1) / C::TileN : S / C::TileN;
  mbar_wait(q_full, 0);
  mbar_wait(k_full, 0);
  wgmma_fence();
  qk<C>(s, q, base + M::K0);
  wgmma_commit();
  wgmma_wait<0>();
  keep(s);
  if (tid == 0)
    mbar_arrive(k_empty);
  softmax<C, (C::Causal || C::Tail), true>(s, m, l, alpha, c, row, (nb - 1) * C::TileN + colt, S);
  to_p<C>(s, p);
  auto step = [&](auto mask, int i) {
    int ks = i % C::Stages, kp = (i / C::Stages) & 1, vs = (i - 1) % C::Stages,
        vp = ((i - 1) / C::Stages) & 1, j = nb - 1 - i;
    mbar_wait(k_full + 8 * ks, kp);
    if constexpr (C::PingPong)
      bar_sync(8 + wg, 256);
    wgmma_fence();
    qk<C>(s, q, base + M::K0 + ks * M::KV);
    wgmma_commit();
    mbar_wait(v_full + 8 * vs, vp);
    wgmma_fence();
    pv<C>(o, p, base + M::V0 + vs * M::KV, i > 1);
    wgmma_commit();
    if constexpr (C::PingPong)
      bar_arrive(8 + (wg + 1) % C::Consumers, 256);
    if (warp0 && elect()) { // refill what step i-1 released
      if (i - 1 + C::Stages < nb) {
        mbar_wait(k_empty + 8 * vs, vp);
        load_k(i - 1 + C::Stages);
      }
      if (i >= 2 && i - 2 + C::Stages < nb) {
        mbar_wait(v_empty + 8 * ((i - 2) % C::Stages), ((i - 2) / C::Stages) & 1);
        load_v(i - 2 + C::Stages);
      }
    }
    __syncwarp();
    wgmma_wait<1>();
    keep(s);
    if (tid == 0)
      mbar_arrive(k_empty + 8 * ks);
    softmax<C, decltype(mask)::value, false>(s, m, l, alpha, c, row, j * C::TileN + colt, S);
    keep(s);
    if constexpr (C::PinExp == 2)
      asm volatile(
          "{ .reg .pred p; setp.lt.f32 p, %0, 0f00000000; @p st.shared.f32 [%1], %0; }" ::"f"(l[0] +
                                                                                              l[1]),
          "r"(base)
          : "memory");
    wgmma_wait<0>();
    keep(o);
    if (tid == 0)
      mbar_arrive(v_empty + 8 * vs);
#pragma unroll
    for (int x = 0; x < C::HeadDim / 2; x++)
      o[x] *= alpha[(x >> 1) & 1];
    to_p<C>(s, p);
  };
  if constexpr (C::PingPong) {
    if (wg == C::Consumers - 1)
      bar_arrive(8, 256);
  }
  int i = 1;
  if constexpr (C::Causal || C::Tail)
    for (; nb - 1 - i >= clear && i < nb; i++)
      step(std::true_type{}, i);
#pragma unroll 1
  for (; i < nb; i++)
    step(std::false_type{}, i);
  mbar_wait(v_full + 8 * ((nb - 1) % C::Stages), ((nb - 1) / C::Stages) & 1);
  wgmma_fence();
  pv<C>(o, p, base + M::V0 + ((nb - 1) % C::Stages) * M::KV, nb > 1);
  wgmma_commit();
  wgmma_wait<0>();
  keep(o);
  attn_store<C>(o, m, l, &mO, lse, scale, q, row0, bh, S, tid, 1 + wg);
  if (tid == 0)
    bulk_wait<0>();
}
