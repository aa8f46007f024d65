// Attention forward, bf16, O = softmax(scale Q K^T) V and LSE. Q, K, V, O are [B*H, S, D], seen by
// TMA as {64, S, D/64, B*H}.
#pragma once
#include "ptx.cuh"

template <class C> struct AttnSmem {
  static constexpr int Q_WG = 64 * C::HeadDim * 2, Q = C::Consumers * Q_WG,
                       KV = C::TileN * C::HeadDim * 2;
  static constexpr int K0 = Q, V0 = K0 + C::Stages * KV, BAR = V0 + C::Stages * KV;
  // q_full, q_empty, k_full[Stages], k_empty[Stages], v_full[Stages], v_empty[Stages], t_full[2],
  // t_empty[2], tile[2]
  static constexpr int TOTAL = BAR + 8 * (2 + 4 * C::Stages + 4) + 16;
};
template <int N> DEV void keep(float (&x)[N]) { // pins registers: nothing moves across
#pragma unroll
  for (int i = 0; i < N; i++)
    asm volatile("" : "+f"(x[i])::"memory");
}
// Groups of hg heads; inside a group the longest rows of tiles first.
DEV void attn_tile(int t, int nm, int hg, int &m, int &bh) {
  int per = nm * hg, g = t / per, r = t - g * per;
  m = nm - 1 - r / hg;
  bh = g * hg + r % hg;
}
template <class C> DEV void qk(float (&s)[C::TileN / 2], uint32_t q, uint32_t k) {
#pragma unroll
  for (int kk = 0; kk < C::HeadDim / 16; kk++)
    Wgmma<C::TileN>::ss(s, wgmma_desc(q + (kk / 4) * 8192 + (kk % 4) * 32, 16, 1024),
                        wgmma_desc(k + (kk / 4) * C::TileN * 128 + (kk % 4) * 32, 16, 1024),
                        kk > 0);
}
template <class C>
DEV void pv(float (&o)[C::HeadDim / 2], uint32_t (&p)[C::TileN / 4], uint32_t v, int accumulate) {
#pragma unroll
  for (int kk = 0; kk < C::TileN / 16; kk++)
    Wgmma<C::HeadDim>::rs_tb(o, p[4 * kk], p[4 * kk + 1], p[4 * kk + 2], p[4 * kk + 3],
                             wgmma_desc(v + kk * 2048, C::TileN * 128, 1024), kk ? 1 : accumulate);
}
template <class C> DEV void to_p(float (&s)[C::TileN / 2], uint32_t (&p)[C::TileN / 4]) {
#pragma unroll
  for (int i = 0; i < C::TileN / 4; i++)
    p[i] = pack_bf16(s[2 * i], s[2 * i + 1]);
}
// s becomes exp2(s*c - m*c); m, l updated; alpha is the factor for what was summed before. row,
// col: of s[0].
template <class C, bool MASK, bool FIRST>
DEV void softmax(float (&s)[C::TileN / 2], float (&m)[2], float (&l)[2], float (&alpha)[2], float c,
                 int row, int col, int S) {
  if constexpr (MASK) {
#pragma unroll
    for (int i = 0; i < C::TileN / 2; i++) {
      int cc = col + (i / 4) * 8 + (i & 1), rr = row + (i & 2) * 4;
      if ((C::Causal && cc > rr) || (C::Tail && cc >= S))
        s[i] = -INFINITY;
    }
  }
  float mx[2] = {s[0], s[2]};
#pragma unroll
  for (int i = 0; i < C::TileN / 2; i++)
    mx[(i >> 1) & 1] = fmaxf(mx[(i >> 1) & 1], s[i]);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    mx[h] = fmaxf(mx[h], __shfl_xor_sync(~0u, mx[h], 1));
    mx[h] = fmaxf(mx[h], __shfl_xor_sync(~0u, mx[h], 2));
    if constexpr (!FIRST)
      mx[h] = fmaxf(mx[h], m[h]);
    if constexpr (C::LazyRescale && !FIRST) {
      if ((mx[h] - m[h]) * c <= 8.f)
        mx[h] = m[h];
    } // keep the old reference: factors up to 2^8 are harmless
    float mc = mx[h] * c;
    if constexpr (MASK)
      mc = mx[h] == -INFINITY ? 0.f : mc;
    if constexpr (!FIRST) {
      alpha[h] = ex2(m[h] * c - mc);
      l[h] *= alpha[h];
    }
    m[h] = mx[h];
    float sum0 = 0, sum1 = 0;
#pragma unroll
    for (int j = 0; j < C::TileN / 8; j++) {
      float a = ex2(fmaf(s[4 * j + 2 * h], c, -mc)), b = ex2(fmaf(s[4 * j + 2 * h + 1], c, -mc));
      s[4 * j + 2 * h] = a, s[4 * j + 2 * h + 1] = b;
      sum0 += a, sum1 += b;
    }
    l[h] = (FIRST ? 0.f : l[h]) + sum0 + sum1;
  }
}
// O/l -> stmatrix -> the warpgroup's part of Q -> TMA store; LSE by one lane a row.
template <class C>
DEV void attn_store(float (&o)[C::HeadDim / 2], float (&m)[2], float (&l)[2], const CUtensorMap *mO,
                    float *lse, float scale, uint32_t buf, int row0, int bh, int S, int tid,
                    int bar) {
  int lane = tid & 31;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    l[h] += __shfl_xor_sync(~0u, l[h], 1);
    l[h] += __shfl_xor_sync(~0u, l[h], 2);
    int row = row0 + (tid >> 5) * 16 + lane / 4 + 8 * h;
    if ((lane & 3) == 0 && row < S)
      lse[(size_t)bh * S + row] = m[h] * scale + __logf(l[h]);
    float inv = 1.f / l[h];
#pragma unroll
    for (int j = 0; j < C::HeadDim / 8; j++)
      o[4 * j + 2 * h] *= inv, o[4 * j + 2 * h + 1] *= inv;
  }
  bar_sync(bar, 128);
  uint32_t srow = (tid >> 5) * 16 + (lane & 15), half = lane >> 4;
#pragma unroll
  for (int j = 0; j < C::HeadDim / 16; j++) {
    const float *d = &o[8 * j];
    stmatrix_x4(buf + (j / 4) * 8192 + swz(srow, (j * 2 + half) & 7), pack_bf16(d[0], d[1]),
                pack_bf16(d[2], d[3]), pack_bf16(d[4], d[5]), pack_bf16(d[6], d[7]));
  }
  fence_async_smem();
  bar_sync(bar, 128);
  if (tid == 0) {
    tma_store_4d(buf, mO, 0, row0, 0, bh);
    bulk_commit();
  }
}

// No roles
template <class C>
__global__ __launch_bounds__(C::Threads, C::BlocksPerSm) void attn_ms(
    const __grid_constant__ CUtensorMap mQ, const __grid_constant__ CUtensorMap mK,
    const __grid_constant__ CUtensorMap mV, const __grid_constant__ CUtensorMap mO, float *lse,
    int *counter, int BH, int S, int hg, float scale) {
  using M = AttnSmem<C>;
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), q_full = base + M::BAR, k_full = q_full + 16,
           v_full = k_full + 16 * C::Stages;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), tid = threadIdx.x & 127;
  if (threadIdx.x == 0) {
    mbar_init(q_full, 1);
    for (int i = 0; i < C::Stages; i++)
      mbar_init(k_full + 8 * i, 1), mbar_init(v_full + 8 * i, 1);
    mbar_init_fence();
  }
  __syncthreads();
  constexpr int BM = 64 * C::Consumers;
  int nm = (S + BM - 1) / BM, mt, bh;
  attn_tile(blockIdx.x, nm, hg, mt, bh);
  int q0 = mt * BM,
      nb = C::Causal ? (min(q0 + BM, S) + C::TileN - 1) / C::TileN : (S + C::TileN - 1) / C::TileN;
  auto load_k = [&](int j, int s) {
    mbar_expect(k_full + 8 * s, M::KV);
    tma_load_4d(base + M::K0 + s * M::KV, &mK, k_full + 8 * s, 0, j * C::TileN, 0, bh);
  };
  auto load_v = [&](int j, int s) {
    mbar_expect(v_full + 8 * s, M::KV);
    tma_load_4d(base + M::V0 + s * M::KV, &mV, v_full + 8 * s, 0, j * C::TileN, 0, bh);
  };
  if (threadIdx.x == 0) {
    mbar_expect(q_full, M::Q);
    for (int i = 0; i < C::Consumers; i++)
      tma_load_4d(base + i * M::Q_WG, &mQ, q_full, 0, q0 + i * 64, 0, bh);
    for (int i = 0; i < C::Stages && i < nb; i++)
      load_k(nb - 1 - i, i), load_v(nb - 1 - i, i);
  }
  float s[C::TileN / 2], o[C::HeadDim / 2], m[2] = {-INFINITY, -INFINITY}, l[2] = {0, 0}, alpha[2],
                                            c = scale * 1.4426950408889634f;
  uint32_t p[C::TileN / 4], q = base + wg * M::Q_WG;
#pragma unroll
  for (int i = 0; i < C::HeadDim / 2; i++)
    o[i] = 0;
  int row0 = q0 + wg * 64, row = row0 + (tid >> 5) * 16 + (tid & 31) / 4, colt = (tid & 3) * 2;
  int clear = C::Causal ? (row0 + 1) / C::TileN : S / C::TileN; // blocks below need no mask
  int slot = 0, phase = 0;
  mbar_wait(q_full, 0);
  for (int j = nb - 1; j >= 0; j--) {
    mbar_wait(k_full + 8 * slot, phase);
    wgmma_fence();
    qk<C>(s, q, base + M::K0 + slot * M::KV);
    wgmma_commit();
    wgmma_wait<0>();
    keep(s);
    __syncthreads();
    if (threadIdx.x == 0 && j >= C::Stages)
      load_k(j - C::Stages, slot);
    if ((C::Causal || C::Tail) && j >= clear)
      softmax<C, true, false>(s, m, l, alpha, c, row, j * C::TileN + colt, S);
    else
      softmax<C, false, false>(s, m, l, alpha, c, row, j * C::TileN + colt, S);
#pragma unroll
    for (int i = 0; i < C::HeadDim / 2; i++)
      o[i] *= alpha[(i >> 1) & 1];
    to_p<C>(s, p);
    mbar_wait(v_full + 8 * slot, phase);
    wgmma_fence();
    pv<C>(o, p, base + M::V0 + slot * M::KV, 1);
    wgmma_commit();
    wgmma_wait<0>();
    keep(o);
    __syncthreads();
    if (threadIdx.x == 0 && j >= C::Stages)
      load_v(j - C::Stages, slot);
    if (++slot == C::Stages)
      slot = 0, phase ^= 1;
  }
  attn_store<C>(o, m, l, &mO, lse, scale, q, row0, bh, S, tid, 1 + wg);
  if (tid == 0)
    bulk_wait<0>();
}

// Roles: producer + Consumers consumers of 64 rows Schedule 0: one tile a block; 1: static
// persistent; 2: tiles from an atomic counter, handed to the consumers through shared memory.
// Overlap: QK(j) is issued before PV(j+1), softmax(j) runs under PV(j+1). PingPong: consumers take
// turns at issuing (named barriers).
template <class C>
__global__ __launch_bounds__(C::Threads, 1) void attn_ws(const __grid_constant__ CUtensorMap mQ,
                                                         const __grid_constant__ CUtensorMap mK,
                                                         const __grid_constant__ CUtensorMap mV,
                                                         const __grid_constant__ CUtensorMap mO,
                                                         float *lse, int *counter, int BH, int S,
                                                         int hg, float scale) {
  using M = AttnSmem<C>;
  constexpr int BM = 64 * C::Consumers;
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), q_full = base + M::BAR, q_empty = q_full + 8,
           k_full = q_full + 16, k_empty = k_full + 8 * C::Stages, v_full = k_empty + 8 * C::Stages,
           v_empty = v_full + 8 * C::Stages, t_full = v_empty + 8 * C::Stages,
           t_empty = t_full + 16;
  volatile int *tile_slot = (volatile int *)(smem + M::BAR + 8 * (2 + 4 * C::Stages + 4));
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), tid = threadIdx.x & 127;
  if (threadIdx.x == 0) {
    mbar_init(q_full, 1), mbar_init(q_empty, C::Consumers);
    for (int i = 0; i < C::Stages; i++)
      mbar_init(k_full + 8 * i, 1), mbar_init(v_full + 8 * i, 1),
          mbar_init(k_empty + 8 * i, C::Consumers), mbar_init(v_empty + 8 * i, C::Consumers);
    for (int i = 0; i < 2; i++)
      mbar_init(t_full + 8 * i, 1), mbar_init(t_empty + 8 * i, C::Consumers * 4);
    mbar_init_fence();
  }
  __syncthreads();
  int nm = (S + BM - 1) / BM, tiles = nm * BH;
  auto blocks = [&](int q0) {
    return C::Causal ? (min(q0 + BM, S) + C::TileN - 1) / C::TileN : (S + C::TileN - 1) / C::TileN;
  };

  if (wg == C::Consumers) { // ---- producer
    if constexpr (C::ProducerRegisters)
      reg_dec<C::ProducerRegisters>();
    if (tid < 32 && elect()) {
      int ks = 0, kp = 1, vs = 0, vp = 1, qp = 1, ts = 0, tp = 1, t = blockIdx.x;
      while (true) {
        int next = tiles;
        if constexpr (C::Schedule == 1)
          next = t + gridDim.x;
        if constexpr (C::Schedule == 2)
          next = gridDim.x + atomicAdd(counter, 1);
        int mt, bh;
        attn_tile(t, nm, hg, mt, bh);
        int q0 = mt * BM, nb = blocks(q0);
        auto load_k = [&](int j) {
          mbar_wait(k_empty + 8 * ks, kp);
          mbar_expect(k_full + 8 * ks, M::KV);
          tma_load_4d(base + M::K0 + ks * M::KV, &mK, k_full + 8 * ks, 0, j * C::TileN, 0, bh);
          if (++ks == C::Stages)
            ks = 0, kp ^= 1;
        };
        auto load_v = [&](int j) {
          mbar_wait(v_empty + 8 * vs, vp);
          mbar_expect(v_full + 8 * vs, M::KV);
          tma_load_4d(base + M::V0 + vs * M::KV, &mV, v_full + 8 * vs, 0, j * C::TileN, 0, bh);
          if (++vs == C::Stages)
            vs = 0, vp ^= 1;
        };
        load_k(nb - 1);
        mbar_wait(q_empty, qp);
        qp ^= 1;
        mbar_expect(q_full, M::Q);
        for (int i = 0; i < C::Consumers; i++)
          tma_load_4d(base + i * M::Q_WG, &mQ, q_full, 0, q0 + i * 64, 0, bh);
        for (int j = nb - 2; j >= 0; j--)
          load_k(j), load_v(j + 1);
        load_v(0);
        if constexpr (C::Schedule == 2) { // hand over the next tile
          mbar_wait(t_empty + 8 * ts, tp);
          tile_slot[ts] = next;
          mbar_arrive(t_full + 8 * ts);
          if (++ts == 2)
            ts = 0, tp ^= 1;
        }
        t = next;
        if (t >= tiles)
          break;
      }
      if constexpr (C::Schedule == 2) { // the last block to come here resets the counters
        if (atomicInc((unsigned *)counter + 1, gridDim.x - 1) == gridDim.x - 1)
          *(volatile int *)counter = 0;
      }
    }
  } else { // ---- consumers
    if constexpr (C::ConsumerRegisters)
      reg_inc<C::ConsumerRegisters>();
    float s[C::TileN / 2], o[C::HeadDim / 2], m[2], l[2], alpha[2];
    const float c = scale * 1.4426950408889634f;
    uint32_t p[C::TileN / 4], q = base + wg * M::Q_WG;
    int ks = 0, kp = 0, vs = 0, vp = 0, qp = 0, ts = 0, tp = 0, t = blockIdx.x;
    auto next_k = [&] {
      if (++ks == C::Stages)
        ks = 0, kp ^= 1;
    };
    auto next_v = [&] {
      if (++vs == C::Stages)
        vs = 0, vp ^= 1;
    };
    if constexpr (C::PingPong) {
      if (wg == C::Consumers - 1)
        bar_arrive(8, 256);
    }
    while (true) {
      int mt, bh;
      attn_tile(t, nm, hg, mt, bh);
      int q0 = mt * BM, nb = blocks(q0), row0 = q0 + wg * 64,
          row = row0 + (tid >> 5) * 16 + (tid & 31) / 4, colt = (tid & 3) * 2;
      int clear = C::Causal ? (row0 + 1) / C::TileN : S / C::TileN;
      mbar_wait(q_full, qp);
      qp ^= 1;
      auto step_first = [&] {
        mbar_wait(k_full + 8 * ks, kp);
        wgmma_fence();
        qk<C>(s, q, base + M::K0 + ks * M::KV);
        wgmma_commit();
        wgmma_wait<0>();
        keep(s);
        if (tid == 0)
          mbar_arrive(k_empty + 8 * ks);
        next_k();
        softmax<C, (C::Causal || C::Tail), true>(s, m, l, alpha, c, row, (nb - 1) * C::TileN + colt,
                                                 S);
        to_p<C>(s, p);
      };
      auto step = [&](auto mask, int j) { // QK(j), PV(j+1), softmax(j)
        mbar_wait(k_full + 8 * ks, kp);
        if constexpr (C::PingPong)
          bar_sync(8 + wg, 256);
        wgmma_fence();
        if constexpr (C::Overlap) {
          qk<C>(s, q, base + M::K0 + ks * M::KV);
          wgmma_commit();
          mbar_wait(v_full + 8 * vs, vp);
          wgmma_fence(); // without it ptxas injects one (C7519): the wait is a loop
          pv<C>(o, p, base + M::V0 + vs * M::KV, j + 1 < nb - 1);
          wgmma_commit();
          if constexpr (C::PingPong)
            bar_arrive(8 + (wg + 1) % C::Consumers, 256);
          wgmma_wait<1>();
          keep(s);
          if (tid == 0)
            mbar_arrive(k_empty + 8 * ks);
          next_k();
          softmax<C, decltype(mask)::value, false>(s, m, l, alpha, c, row, j * C::TileN + colt, S);
          if constexpr (C::PinExp >= 1)
            keep(s); // else LLVM may sink the exponentials below the wait
          if constexpr (
              C::PinExp ==
              2) // ... and so does ptxas, unless a memory access that needs them stands before it
            asm volatile(
                "{ .reg .pred p; setp.lt.f32 p, %0, 0f00000000; @p st.shared.f32 [%1], %0; }" ::"f"(
                    l[0] + l[1]),
                "r"(base)
                : "memory");
          wgmma_wait<0>();
          keep(o);
          if (tid == 0)
            mbar_arrive(v_empty + 8 * vs);
          next_v();
        } else {
          mbar_wait(v_full + 8 * vs, vp);
          wgmma_fence();
          pv<C>(o, p, base + M::V0 + vs * M::KV, j + 1 < nb - 1);
          qk<C>(s, q, base + M::K0 + ks * M::KV);
          wgmma_commit();
          if constexpr (C::PingPong)
            bar_arrive(8 + (wg + 1) % C::Consumers, 256);
          wgmma_wait<0>();
          keep(s), keep(o);
          if (tid == 0)
            mbar_arrive(k_empty + 8 * ks), mbar_arrive(v_empty + 8 * vs);
          next_k(), next_v();
          softmax<C, decltype(mask)::value, false>(s, m, l, alpha, c, row, j * C::TileN + colt, S);
        }
        if (!C::LazyRescale || __any_sync(~0u, alpha[0] != 1.f || alpha[1] != 1.f)) {
#pragma unroll
          for (int i = 0; i < C::HeadDim / 2; i++)
            o[i] *= alpha[(i >> 1) & 1];
        }
        to_p<C>(s, p);
      };
      step_first();
      int j = nb - 2;
      if constexpr (C::Causal || C::Tail)
        for (; j >= clear; j--)
          step(std::true_type{}, j);
#pragma unroll 1
      for (; j >= 0; j--)
        step(std::false_type{}, j);
      mbar_wait(v_full + 8 * vs, vp);
      wgmma_fence();
      pv<C>(o, p, base + M::V0 + vs * M::KV, nb > 1);
      wgmma_commit();
      wgmma_wait<0>();
      keep(o);
      if (tid == 0)
        mbar_arrive(v_empty + 8 * vs);
      next_v();
      attn_store<C>(o, m, l, &mO, lse, scale, q, row0, bh, S, tid, 1 + wg);
      if constexpr (C::Schedule == 0)
        break;
      if (tid == 0) {
        bulk_wait_read<0>();
        mbar_arrive(q_empty);
      }
      if constexpr (C::Schedule == 1)
        t += gridDim.x;
      if constexpr (C::Schedule == 2) {
        mbar_wait(t_full + 8 * ts, tp);
        t = tile_slot[ts];
        __syncwarp();
        if ((tid & 31) == 0)
          mbar_arrive(t_empty + 8 * ts);
        if (++ts == 2)
          ts = 0, tp ^= 1;
      }
      if (t >= tiles)
        break;
    }
    if (tid == 0)
      bulk_wait<0>();
  }
}
