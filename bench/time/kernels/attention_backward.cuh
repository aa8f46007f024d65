// Attention backward, bf16: dQ, dK, dV from Q, K, V, O, dO, LSE, all [B*H, S, D]; TMA sees them as
// {64, S, D/64, B*H}. Its kernels:
//   bwd_pre   delta = rowsum(O * dO), LSE in the log2 domain, both padded to whole query blocks
//             (+inf, 0: padded rows give P = dS = 0) and permuted so that a thread of the transposed
//             score tile reads its columns with ld.shared.v4; clears the f32 dQ
//   bwd_kv    a block owns 128 keys (64 a warpgroup) and loops over blocks of queries. Scores are
//             transposed: S^T = K Q^T and dP^T = V dO^T from shared memory; P^T and dS^T stay in
//             registers, already the A operand of dV += P^T dO and dK += dS^T Q; dS for dQ = dS K
//             goes through shared memory (stmatrix.trans), each warpgroup takes half of dQ
//   bwd_post  f32 dQ (in the order of accumulator fragments) -> bf16
//   bwd_q     a block owns 128 queries and loops over keys, dS in registers (deterministic)
// DQ 0: no dQ (bwd_q computes it); 1: to global by TMA reduce-add; 2: by red.v4.f32 from registers.
// Queries: of a block of the loop. StagesQ, StagesDO: of Q and of dO. Roles: a producer warpgroup.
// Overlap 0: everything of a step inside the step; 1: dQ a step late, S a step early. LateS: S is
// issued after dQ is written. LateV: dV after dS. EarlyRefill: after dV. Rotate: blocks begin their
// loops at different queries. TileN, StagesK, StagesV: of bwd_q.
#pragma once
#include "attention.cuh"

template <int M> struct Stat { // order of LSE and delta inside a block of M queries
  static constexpr int TS = M / 4 + (M % 128 ? 0 : 4),
                       N = 4 *
                           TS; // floats a quad lane (padded against bank conflicts), floats a block
  static DEV int pos(int q) {
    int b = q / M, r = q % M;
    return b * N + ((r >> 1) & 3) * TS + (r >> 3) * 2 + (r & 1);
  }
};
template <class C> struct BwdSmem {
  static constexpr int KVW = 64 * C::HeadDim * 2, T = C::Queries * C::HeadDim * 2,
                       DS = C::Queries * 128 * 2, ST = Stat<C::Queries>::N * 4;
  static constexpr int K0 = 0, V0 = 2 * KVW, Q0 = 4 * KVW, O0 = Q0 + C::StagesQ * T,
                       DS0 = O0 + C::StagesDO * T, NDS = C::DQ ? 1 + C::Overlap : 0;
  static constexpr int STG0 = DS0 + NDS * DS, STG = C::DQ == 1 ? C::Queries * C::HeadDim * 4 : 0,
                       LS0 = STG0 + STG, DL0 = LS0 + C::StagesQ * ST, BAR = DL0 + C::StagesDO * ST;
  static constexpr int TOTAL = BAR + 8 * (2 + 2 * C::StagesQ + 2 * C::StagesDO + 4);
};
struct Ring {
  int s = 0, p = 0;
  template <int N> DEV void next() {
    if (++s == N)
      s = 0, p ^= 1;
  }
};

template <class C>
__global__ __launch_bounds__(256) void bwd_pre(const bf16 *O, const bf16 *dO, const float *lse,
                                               float *lse2, float *delta, float *acc, int BH, int S,
                                               int nq) {
  constexpr int LR = C::HeadDim / 8; // lanes a row
  int row = (blockIdx.x * 256 + threadIdx.x) / LR, l = threadIdx.x % LR, Sp = nq * C::Queries;
  if (row >= BH * Sp)
    return;
  int bh = row / Sp, q = row - bh * Sp;
  float sum = 0;
  if (q < S) {
    size_t at = ((size_t)bh * S + q) * C::HeadDim + l * 8;
    uint4 x = *(const uint4 *)(O + at), y = *(const uint4 *)(dO + at);
    const uint32_t *a = &x.x, *b = &y.x;
#pragma unroll
    for (int i = 0; i < 4; i++)
      sum += __uint_as_float(a[i] << 16) * __uint_as_float(b[i] << 16) +
             __uint_as_float(a[i] & 0xffff0000) * __uint_as_float(b[i] & 0xffff0000);
  }
#pragma unroll
  for (int i = LR / 2; i; i /= 2)
    sum += __shfl_xor_sync(~0u, sum, i);
  if (l == 0) {
    size_t at = (size_t)bh * nq * Stat<C::Queries>::N + Stat<C::Queries>::pos(q);
    lse2[at] = q < S ? lse[(size_t)bh * S + q] * 1.4426950408889634f : INFINITY;
    delta[at] = sum;
  }
  if constexpr (C::DQ) {
    float4 *z = (float4 *)(acc + (size_t)row * C::HeadDim + l * 8);
    z[0] = z[1] = make_float4(0, 0, 0, 0);
  }
}

template <int D, int ROWS>
DEV void store_tile(float (&d)[D / 2], float f, uint32_t buf,
                    int tid) { // 64 rows of [D/64][ROWS][64] by stmatrix
  int lane = tid & 31;
  uint32_t srow = (tid >> 5) * 16 + (lane & 15), half = lane >> 4;
#pragma unroll
  for (int j = 0; j < D / 16; j++) {
    const float *x = &d[8 * j];
    stmatrix_x4(buf + (j / 4) * ROWS * 128 + swz(srow, (j * 2 + half) & 7),
                pack_bf16(x[0] * f, x[1] * f), pack_bf16(x[2] * f, x[3] * f),
                pack_bf16(x[4] * f, x[5] * f), pack_bf16(x[6] * f, x[7] * f));
  }
}
template <int M>
DEV void store_transposed(uint32_t (&f)[M / 4], uint32_t buf,
                          int tid) { // A fragments of [64, M] -> [M][64]
  int lane = tid & 31, chunk = (tid >> 5) * 2 + ((lane >> 3) & 1), r = (lane & 7) + (lane >> 4) * 8;
#pragma unroll
  for (int k = 0; k < M / 16; k++)
    stmatrix_x4_t(buf + swz(k * 16 + r, chunk), f[4 * k], f[4 * k + 1], f[4 * k + 2], f[4 * k + 3]);
}

template <class C>
__global__ __launch_bounds__(C::Threads, 1) void bwd_kv(
    const __grid_constant__ CUtensorMap mQ, const __grid_constant__ CUtensorMap mdO,
    const __grid_constant__ CUtensorMap mK, const __grid_constant__ CUtensorMap mV,
    const __grid_constant__ CUtensorMap mdK, const __grid_constant__ CUtensorMap mdV,
    const float *lse2, const float *delta, float *acc, int BH, int S, int hg, float scale) {
  using X = BwdSmem<C>;
  constexpr int M = C::Queries, D = C::HeadDim, SN = Stat<M>::N;
  constexpr bool SWAP =
      M % 64 != 0 || (D == 128 && M != 64); // dQ^T = K^T dS^T instead of dQ = dS K
  constexpr int NDQ = M * D / 256;          // dQ registers: half of [M, D] a warpgroup
  static_assert(!C::Overlap || C::Roles || C::EarlyRefill || C::StagesQ > 2,
                "Q(n+1) would be loaded after the wait for it");
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), k_full = base + X::BAR, v_full = k_full + 8, q_full = v_full + 8,
           q_empty = q_full + 8 * C::StagesQ, o_full = q_empty + 8 * C::StagesQ,
           o_empty = o_full + 8 * C::StagesDO, ds_full = o_empty + 8 * C::StagesDO,
           ds_empty = ds_full + 16;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), warp = __shfl_sync(~0u, threadIdx.x >> 5, 0),
      tid = threadIdx.x & 127, lane = tid & 31;
  if (threadIdx.x == 0) {
    mbar_init(k_full, 1), mbar_init(v_full, 1);
    for (int i = 0; i < C::StagesQ; i++)
      mbar_init(q_full + 8 * i, 1), mbar_init(q_empty + 8 * i, 8);
    for (int i = 0; i < C::StagesDO; i++)
      mbar_init(o_full + 8 * i, 1), mbar_init(o_empty + 8 * i, 8);
    for (int i = 0; i < 2; i++)
      mbar_init(ds_full + 8 * i, 8), mbar_init(ds_empty + 8 * i, 2);
    mbar_init_fence();
  }
  __syncthreads();
  int nk = (S + 127) / 128, nq = (S + M - 1) / M, per = nk * hg, g = blockIdx.x / per,
      r = blockIdx.x - g * per, nb = r / hg, bh = g * hg + r % hg; // longest first
  int key0 = nb * 128, i0 = C::Causal ? key0 / M : 0, cnt = nq - i0,
      rot = C::Causal || !C::Rotate ? 0 : nb * nq / nk;
  auto qblock = [&](int n) {
    int i = n + rot;
    return i0 + (i >= cnt ? i - cnt : i);
  };
  auto load_q = [&](int n) {
    int s = n % C::StagesQ, i = qblock(n);
    mbar_expect(q_full + 8 * s, X::T + X::ST);
    tma_load_4d(base + X::Q0 + s * X::T, &mQ, q_full + 8 * s, 0, i * M, 0, bh);
    bulk_load(base + X::LS0 + s * X::ST, lse2 + ((size_t)bh * nq + i) * SN, X::ST, q_full + 8 * s);
  };
  auto load_o = [&](int n) {
    int s = n % C::StagesDO, i = qblock(n);
    mbar_expect(o_full + 8 * s, X::T + X::ST);
    tma_load_4d(base + X::O0 + s * X::T, &mdO, o_full + 8 * s, 0, i * M, 0, bh);
    bulk_load(base + X::DL0 + s * X::ST, delta + ((size_t)bh * nq + i) * SN, X::ST, o_full + 8 * s);
  };
  auto load_first = [&] {
    mbar_expect(k_full, 2 * X::KVW);
    for (int w = 0; w < 2; w++)
      tma_load_4d(base + X::K0 + w * X::KVW, &mK, k_full, 0, key0 + w * 64, 0, bh);
    load_q(0);
    mbar_expect(v_full, 2 * X::KVW);
    for (int w = 0; w < 2; w++)
      tma_load_4d(base + X::V0 + w * X::KVW, &mV, v_full, 0, key0 + w * 64, 0, bh);
    load_o(0);
    for (int n = 1; n < C::StagesQ && n < cnt; n++)
      load_q(n);
    for (int n = 1; n < C::StagesDO && n < cnt; n++)
      load_o(n);
  };
  auto refill_q = [&](int n) {
    if (n < cnt) {
      mbar_wait(q_empty + 8 * (n % C::StagesQ), (n / C::StagesQ - 1) & 1);
      load_q(n);
    }
  };
  auto refill_o = [&](int n) {
    if (n < cnt) {
      mbar_wait(o_empty + 8 * (n % C::StagesDO), (n / C::StagesDO - 1) & 1);
      load_o(n);
    }
  };
  if constexpr (C::Roles) {
    if (wg == 2) { // ---- producer
      reg_dec<24>();
      if (warp == 8 && elect()) {
        load_first();
        for (int n = min(C::StagesQ, C::StagesDO); n < cnt; n++) {
          if (n >= C::StagesQ)
            refill_q(n);
          if (n >= C::StagesDO)
            refill_o(n);
        }
      }
      return;
    }
    reg_inc<240>();
  } else if (warp == 0 && elect())
    load_first();
  __syncwarp();

  float s[M / 2], dp[M / 2], dk[D / 2], dv[D / 2];
  uint32_t p[M / 4], f[M / 4];
  const float c = scale * 1.4426950408889634f;
  const uint32_t kw = base + X::K0 + wg * X::KVW, vw = base + X::V0 + wg * X::KVW;
  const int krow = key0 + wg * 64 + (warp & 3) * 16 + lane / 4, qcol = (lane & 3) * 2;
  auto score = [&](float(&d)[M / 2], uint32_t a, uint32_t b) { // [64 keys, M] = a b^T
#pragma unroll
    for (int k = 0; k < D / 16; k++)
      Wgmma<M>::ss(d, wgmma_desc(a + (k / 4) * 8192 + (k % 4) * 32, 16, 1024),
                   wgmma_desc(b + (k / 4) * M * 128 + (k % 4) * 32, 16, 1024), k > 0);
  };
  auto grad = [&](float(&d)[D / 2], uint32_t(&a)[M / 4], uint32_t b,
                  int accumulate) { // [64 keys, D] += a b
#pragma unroll
    for (int k = 0; k < M / 16; k++)
      Wgmma<D>::rs_tb(d, a[4 * k], a[4 * k + 1], a[4 * k + 2], a[4 * k + 3],
                      wgmma_desc(b + k * 2048, M * 128, 1024), k ? 1 : accumulate);
  };
  auto dq_gemm = [&](float(&d)[NDQ], uint32_t ds) { // ds: [2 panels of 64 keys][M][64]
#pragma unroll
    for (int k = 0; k < 8; k++) {
      uint32_t kb = base + X::K0 + (k / 4) * X::KVW + (k % 4) * 2048,
               db = ds + (k / 4) * M * 128 + (k % 4) * 32;
      if constexpr (SWAP)
        Wgmma<M>::ss_ta(d, wgmma_desc(kb + wg * 8192, 8192, 1024), wgmma_desc(db, 16, 1024), k > 0);
      else if constexpr (D == 128)
        Wgmma<64>::ss_tb(d, wgmma_desc(db, 16, 1024), wgmma_desc(kb + wg * 8192, 8192, 1024),
                         k > 0);
      else
        Wgmma<64>::ss_tb(d, wgmma_desc(db + wg * 8192, 16, 1024), wgmma_desc(kb, 8192, 1024),
                         k > 0);
    }
  };
  auto exps =
      [&](int n,
          uint32_t
              // s = P^T = exp2(c S^T - lse2), causal mask where the block touches the diagonal
              ls) {
        int q0 = qblock(n) * M;
        if (C::Causal && q0 < key0 + wg * 64 + 63) {
#pragma unroll
          for (int i = 0; i < M / 2; i++)
            if (krow + (i & 2) * 4 > q0 + qcol + (i / 4) * 8 + (i & 1))
              s[i] = -INFINITY;
        }
#pragma unroll
        for (int j = 0; j < M / 16; j++) {
          float4 l = lds128(ls + ((lane & 3) * Stat<M>::TS + 4 * j) * 4);
          float *x = &s[8 * j];
          x[0] = ex2(fmaf(x[0], c, -l.x)), x[1] = ex2(fmaf(x[1], c, -l.y)),
          x[2] = ex2(fmaf(x[2], c, -l.x)), x[3] = ex2(fmaf(x[3], c, -l.y));
          x[4] = ex2(fmaf(x[4], c, -l.z)), x[5] = ex2(fmaf(x[5], c, -l.w)),
          x[6] = ex2(fmaf(x[6], c, -l.z)), x[7] = ex2(fmaf(x[7], c, -l.w));
        }
      };
  auto to_bf16 = [&] {
#pragma unroll
    for (int i = 0; i < M / 4; i++)
      p[i] = pack_bf16(s[2 * i], s[2 * i + 1]);
  };
  auto dscore = [&](uint32_t dl) { // f = bf16(P (dP - delta))
#pragma unroll
    for (int j = 0; j < M / 16; j++) {
      float4 l = lds128(dl + ((lane & 3) * Stat<M>::TS + 4 * j) * 4);
      float e[4] = {l.x, l.y, l.z, l.w};
#pragma unroll
      for (int i = 0; i < 4; i++) {
        float d0 = dp[8 * j + 2 * i] - e[i & 2], d1 = dp[8 * j + 2 * i + 1] - e[(i & 2) + 1];
        if constexpr (C::LateV)
          p[4 * j + i] = pack_bf16(s[8 * j + 2 * i], s[8 * j + 2 * i + 1]);
        f[4 * j + i] = pack_bf16(s[8 * j + 2 * i] * d0, s[8 * j + 2 * i + 1] * d1);
      }
    }
  };
  auto put_dq =
      [&](float(&d)[NDQ],
          int n) { // add to the f32 dQ, in fragment order: [bh][block][warpgroup][NDQ/4][128][4]
        float *dst = acc + (((size_t)bh * nq + qblock(n)) * 2 + wg) * (NDQ * 128);
        if constexpr (C::DQ == 2) {
#pragma unroll
          for (int x = 0; x < NDQ / 4; x++)
            red_add_v4(dst + (x * 128 + tid) * 4, d[4 * x], d[4 * x + 1], d[4 * x + 2],
                       d[4 * x + 3]);
        } else {
          uint32_t st = base + X::STG0 + wg * (X::STG / 2);
          if (tid == 0)
            bulk_wait_read<0>();
          bar_sync(4 + wg, 128);
#pragma unroll
          for (int x = 0; x < NDQ / 4; x++)
            sts128(st + (x * 128 + tid) * 16, d[4 * x], d[4 * x + 1], d[4 * x + 2], d[4 * x + 3]);
          fence_async_smem();
          bar_sync(4 + wg, 128);
          if (tid == 0)
            bulk_reduce_add_f32(dst, st, X::STG / 2), bulk_commit();
        }
      };
  auto arrive_warp = [&](uint32_t b) {
    __syncwarp();
    if (lane == 0)
      mbar_arrive(b);
  }; // a warp each: its ld.shared of the statistics are done too
  Ring q, o;
  mbar_wait(k_full, 0);
  if constexpr (C::Overlap) {
    // Order in the tensor pipe: S(0) | dP(n) dV(n) dQ(n-1) dK(n) S(n+1) | ...: exp runs under dP,
    // dS under dV, the write of dQ under dK and S.
    // dQ is one step late, so that a warpgroup never waits for the other's dS of the same step.
    mbar_wait(q_full, 0);
    wgmma_fence();
    score(s, kw, base + X::Q0);
    wgmma_commit();
    mbar_wait(v_full, 0);
    auto refill = [&](int n) { // what step n-1 released, also by the other warpgroup
      if constexpr (!C::Roles) {
        if (warp == 0 && elect())
          refill_q(n - 1 + C::StagesQ), refill_o(n - 1 + C::StagesDO);
        __syncwarp();
      }
    };
    auto issue_dp = [&] {
      mbar_wait(o_full + 8 * o.s, o.p);
      wgmma_fence();
      score(dp, vw, base + X::O0 + o.s * X::T);
      wgmma_commit();
      wgmma_wait<1>(); // S of this step
      keep(s);
    };
    // dP(n) is in flight, S(n) is there. ptxas follows only this much over the back edge: with S in
    // flight there too it serialises (C7514), and a conditional batch (first or last step) does so
    // too (C7515), hence the peeled ends.
    auto step = [&](auto first, auto last, int n) {
      constexpr bool FIRST = decltype(first)::value, LAST = decltype(last)::value;
      float dq[NDQ];
      exps(n, base + X::LS0 + q.s * X::ST);
      if constexpr (!C::LateV)
        to_bf16();
      wgmma_wait<0>(); // dP(n)
      keep(dp);
      if constexpr (C::LateV)
        dscore(base + X::DL0 + o.s * X::ST); // dV after dS: 20 registers less
      wgmma_fence();
      grad(dv, p, base + X::O0 + o.s * X::T, !FIRST);
      wgmma_commit();
      if constexpr (C::EarlyRefill && !FIRST)
        refill(n);
      if constexpr (!C::LateV)
        dscore(base + X::DL0 + o.s * X::ST);
      if constexpr (C::DQ) {
        int b = n & 1;
        mbar_wait(ds_empty + 8 * b, ((n >> 1) & 1) ^ 1);
        store_transposed<M>(f, base + X::DS0 + b * X::DS + wg * M * 128, tid);
        fence_async_smem();
        arrive_warp(ds_full + 8 * b);
        if constexpr (!FIRST) {
          mbar_wait(ds_full + 8 * (b ^ 1), ((n - 1) >> 1) & 1);
          wgmma_fence();
          dq_gemm(dq, base + X::DS0 + (b ^ 1) * X::DS);
          wgmma_commit();
        }
      }
      wgmma_fence();
      grad(dk, f, base + X::Q0 + q.s * X::T, !FIRST);
      wgmma_commit();
      uint32_t q_free = q_empty + 8 * q.s;
      q.next<C::StagesQ>();
      auto issue_s = [&] {
        mbar_wait(q_full + 8 * q.s, q.p);
        wgmma_fence();
        score(s, kw, base + X::Q0 + q.s * X::T);
        wgmma_commit();
      };
      if constexpr (!LAST && !C::LateS)
        issue_s();
      if constexpr (!C::EarlyRefill && !FIRST)
        refill(n);
      wgmma_wait<LAST || C::LateS ? 1 : 2>(); // dV(n), dQ(n-1)
      arrive_warp(o_empty + 8 * o.s);
      o.next<C::StagesDO>();
      if constexpr (C::DQ && !FIRST) {
        keep(dq);
        if (tid == 0)
          mbar_arrive(ds_empty + 8 * ((n & 1) ^ 1));
        put_dq(dq, n - 1);
      }
      if constexpr (!LAST) {
        if constexpr (C::LateS)
          issue_s();
        wgmma_wait<1>(); // dK(n): f is free before dP(n+1) takes registers
        arrive_warp(q_free);
        issue_dp();
      }
    };
    issue_dp();
    std::true_type yes;
    std::false_type no;
    if (cnt == 1)
      step(yes, yes, 0);
    else {
      step(yes, no, 0);
#pragma unroll 1
      for (int n = 1; n < cnt - 1; n++)
        step(no, no, n);
      step(no, yes, cnt - 1);
    }
    if constexpr (C::DQ) {
      float dq[NDQ];
      int n = cnt - 1;
      mbar_wait(ds_full + 8 * (n & 1), (n >> 1) & 1);
      wgmma_fence();
      dq_gemm(dq, base + X::DS0 + (n & 1) * X::DS);
      wgmma_commit();
      wgmma_wait<0>();
      keep(dq);
      put_dq(dq, n);
    }
    wgmma_wait<0>();
  } else {
    // FA3's order: all of a step inside the step; the warpgroups synchronize at two barriers
    // (dS free, dS written).
    mbar_wait(v_full, 0);
#pragma unroll 1
    for (int n = 0; n < cnt; n++) {
      uint32_t qt = base + X::Q0 + q.s * X::T, ot = base + X::O0 + o.s * X::T, ds = base + X::DS0;
      float dq[NDQ];
      mbar_wait(q_full + 8 * q.s, q.p);
      wgmma_fence();
      score(s, kw, qt);
      wgmma_commit();
      mbar_wait(o_full + 8 * o.s, o.p);
      wgmma_fence();
      score(dp, vw, ot);
      wgmma_commit();
      wgmma_wait<1>();
      keep(s);
      exps(n, base + X::LS0 + q.s * X::ST);
      if constexpr (!C::LateV)
        to_bf16();
      wgmma_wait<0>();
      keep(dp);
      dscore(base + X::DL0 + o.s * X::ST);
      if constexpr (C::DQ) {
        bar_sync(1, 256);
        store_transposed<M>(f, ds + wg * M * 128, tid);
      }
      wgmma_fence();
      grad(dv, p, ot, n > 0);
      wgmma_commit();
      if constexpr (C::DQ) {
        fence_async_smem();
        bar_sync(1, 256);
        wgmma_fence();
        dq_gemm(dq, ds);
        wgmma_commit();
      }
      wgmma_fence();
      grad(dk, f, qt, n > 0);
      wgmma_commit();
      if constexpr (C::DQ) {
        wgmma_wait<1>();
        keep(dq);
        arrive_warp(o_empty + 8 * o.s);
        put_dq(dq, n);
      } else {
        wgmma_wait<1>();
        arrive_warp(o_empty + 8 * o.s);
      }
      wgmma_wait<0>();
      keep(dk), keep(dv);
      arrive_warp(q_empty + 8 * q.s);
      if constexpr (!C::Roles) {
        if (warp == 0 && elect())
          refill_o(n + C::StagesDO), refill_q(n + C::StagesQ);
        __syncwarp();
      }
      q.next<C::StagesQ>(), o.next<C::StagesDO>();
    }
  }
  keep(dk), keep(dv);
  bar_sync(2, 256); // the other warpgroup has read this K for its dQ
  store_tile<D, 64>(dv, 1.f, vw, tid);
  store_tile<D, 64>(dk, scale, kw, tid);
  fence_async_smem();
  bar_sync(4 + wg, 128);
  if (tid == 0) {
    tma_store_4d(vw, &mdV, 0, key0 + wg * 64, 0, bh);
    tma_store_4d(kw, &mdK, 0, key0 + wg * 64, 0, bh);
    bulk_commit();
    bulk_wait<0>();
  }
}

template <class C>
__global__ __launch_bounds__(256) void bwd_post(const __grid_constant__ CUtensorMap mdQ,
                                                const float *acc, int nq, float scale) {
  constexpr int M = C::Queries, D = C::HeadDim, NDQ = M * D / 256;
  constexpr bool SWAP = M % 64 != 0 || (D == 128 && M != 64);
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem);
  int wg = threadIdx.x >> 7, tid = threadIdx.x & 127, bh = blockIdx.x / nq, i = blockIdx.x % nq;
  const float4 *src = (const float4 *)(acc + ((size_t)blockIdx.x * 2 + wg) * (NDQ * 128));
  float d[NDQ];
#pragma unroll
  for (int x = 0; x < NDQ / 4; x++) {
    float4 v = src[x * 128 + tid];
    d[4 * x] = v.x, d[4 * x + 1] = v.y, d[4 * x + 2] = v.z, d[4 * x + 3] = v.w;
  }
  if constexpr (SWAP) {
    uint32_t f[M / 4];
#pragma unroll
    for (int x = 0; x < NDQ / 2; x++)
      f[x] = pack_bf16(d[2 * x] * scale, d[2 * x + 1] * scale);
    store_transposed<M>(f, base + wg * M * 128, tid);
  } else
    store_tile<64, M>(d, scale, base + (D == 128 ? wg * M * 128 : wg * 8192), tid);
  fence_async_smem();
  __syncthreads();
  if (threadIdx.x == 0) {
    tma_store_4d(base, &mdQ, 0, i * M, 0, bh);
    bulk_commit();
    bulk_wait<0>();
  }
}

// dQ by a kernel of its own
template <class C> struct BwdQSmem {
  static constexpr int W = 64 * C::HeadDim * 2, T = C::TileN * C::HeadDim * 2, O0 = 2 * W,
                       K0 = 4 * W, V0 = K0 + C::StagesK * T, BAR = V0 + C::StagesV * T,
                       TOTAL = BAR + 8 * (2 + 2 * C::StagesK + 2 * C::StagesV);
};
template <class C>
__global__ __launch_bounds__(256, 1) void bwd_q(const __grid_constant__ CUtensorMap mQ,
                                                const __grid_constant__ CUtensorMap mdO,
                                                const __grid_constant__ CUtensorMap mK,
                                                const __grid_constant__ CUtensorMap mV,
                                                const __grid_constant__ CUtensorMap mdQ,
                                                const float *lse2, const float *delta, int BH,
                                                int S, int hg, float scale) {
  using X = BwdQSmem<C>;
  constexpr int D = C::HeadDim, BN = C::TileN;
  static_assert(
      C::StagesK > 2,
      "K(n+1) would be loaded after the wait for it"); // with 2: hangs from the third block on
  extern __shared__ __align__(1024) uint8_t smem[];
  uint32_t base = smem_u32(smem), q_full = base + X::BAR, o_full = q_full + 8, k_full = o_full + 8,
           k_empty = k_full + 8 * C::StagesK, v_full = k_empty + 8 * C::StagesK,
           v_empty = v_full + 8 * C::StagesV;
  int wg = __shfl_sync(~0u, threadIdx.x >> 7, 0), warp = __shfl_sync(~0u, threadIdx.x >> 5, 0),
      tid = threadIdx.x & 127, lane = tid & 31;
  if (threadIdx.x == 0) {
    mbar_init(q_full, 1), mbar_init(o_full, 1);
    for (int i = 0; i < C::StagesK; i++)
      mbar_init(k_full + 8 * i, 1), mbar_init(k_empty + 8 * i, 2);
    for (int i = 0; i < C::StagesV; i++)
      mbar_init(v_full + 8 * i, 1), mbar_init(v_empty + 8 * i, 2);
    mbar_init_fence();
  }
  __syncthreads();
  int nm = (S + 127) / 128, mt, bh;
  attn_tile(blockIdx.x, nm, hg, mt, bh);
  int q0 = mt * 128, nb = C::Causal ? (min(q0 + 128, S) + BN - 1) / BN : (S + BN - 1) / BN;
  auto load_k = [&](int i) {
    int s = i % C::StagesK;
    mbar_expect(k_full + 8 * s, X::T);
    tma_load_4d(base + X::K0 + s * X::T, &mK, k_full + 8 * s, 0, (nb - 1 - i) * BN, 0, bh);
  };
  auto load_v = [&](int i) {
    int s = i % C::StagesV;
    mbar_expect(v_full + 8 * s, X::T);
    tma_load_4d(base + X::V0 + s * X::T, &mV, v_full + 8 * s, 0, (nb - 1 - i) * BN, 0, bh);
  };
  if (warp == 0 && elect()) {
    mbar_expect(q_full, 2 * X::W);
    for (int w = 0; w < 2; w++)
      tma_load_4d(base + w * X::W, &mQ, q_full, 0, q0 + w * 64, 0, bh);
    load_k(0);
    mbar_expect(o_full, 2 * X::W);
    for (int w = 0; w < 2; w++)
      tma_load_4d(base + X::O0 + w * X::W, &mdO, o_full, 0, q0 + w * 64, 0, bh);
    load_v(0);
    for (int i = 1; i < C::StagesK && i < nb; i++)
      load_k(i);
    for (int i = 1; i < C::StagesV && i < nb; i++)
      load_v(i);
  }
  __syncwarp();
  float s[BN / 2], dp[BN / 2], dq[D / 2], l2[2], dl[2];
  uint32_t f[BN / 4];
  const float c = scale * 1.4426950408889634f;
  const uint32_t qw = base + wg * X::W, ow = base + X::O0 + wg * X::W;
  const int row0 = q0 + wg * 64, row = row0 + (warp & 3) * 16 + lane / 4, col = (lane & 3) * 2,
            clear = C::Causal ? (row0 + 1) / BN : nb;
  const int nq = (S + C::Queries - 1) / C::Queries;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    size_t at = (size_t)bh * nq * Stat<C::Queries>::N +
                Stat<C::Queries>::pos(min(row + 8 * h, nq * C::Queries - 1));
    l2[h] = lse2[at], dl[h] = delta[at];
  }
  auto score = [&](float(&d)[BN / 2], uint32_t a, uint32_t b) {
#pragma unroll
    for (int k = 0; k < D / 16; k++)
      Wgmma<BN>::ss(d, wgmma_desc(a + (k / 4) * 8192 + (k % 4) * 32, 16, 1024),
                    wgmma_desc(b + (k / 4) * BN * 128 + (k % 4) * 32, 16, 1024), k > 0);
  };
  Ring k, v;
  mbar_wait(q_full, 0);
  mbar_wait(k_full, 0);
  wgmma_fence();
  score(s, qw, base + X::K0);
  wgmma_commit();
  mbar_wait(o_full, 0);
  auto issue_dp = [&] {
    mbar_wait(v_full + 8 * v.s, v.p);
    wgmma_fence();
    score(dp, ow, base + X::V0 + v.s * X::T);
    wgmma_commit();
    wgmma_wait<1>(); // S of this step, dQ of the one before
    keep(s);
  };
  auto step = [&](auto last, int n) { // dP(n) is in flight, S(n) is there
    int j = nb - 1 - n;
    if (C::Causal && j >= clear) {
#pragma unroll
      for (int i = 0; i < BN / 2; i++)
        if (j * BN + col + (i / 4) * 8 + (i & 1) > row + (i & 2) * 4)
          s[i] = -INFINITY;
    }
#pragma unroll
    for (int i = 0; i < BN / 2; i++)
      s[i] = ex2(fmaf(s[i], c, -l2[(i >> 1) & 1]));
    wgmma_wait<0>(); // dP(n)
    keep(dp);
    if (tid == 0)
      mbar_arrive(v_empty + 8 * v.s);
    v.next<C::StagesV>();
#pragma unroll
    for (int i = 0; i < BN / 4; i++)
      f[i] =
          pack_bf16(s[2 * i] * (dp[2 * i] - dl[i & 1]), s[2 * i + 1] * (dp[2 * i + 1] - dl[i & 1]));
    wgmma_fence();
#pragma unroll
    for (int kk = 0; kk < BN / 16; kk++)
      Wgmma<D>::rs_tb(dq, f[4 * kk], f[4 * kk + 1], f[4 * kk + 2], f[4 * kk + 3],
                      wgmma_desc(base + X::K0 + k.s * X::T + kk * 2048, BN * 128, 1024),
                      kk ? 1 : n > 0);
    wgmma_commit();
    uint32_t k_free = k_empty + 8 * k.s;
    k.next<C::StagesK>();
    if constexpr (!decltype(last)::value) {
      mbar_wait(k_full + 8 * k.s, k.p);
      wgmma_fence();
      score(s, qw, base + X::K0 + k.s * X::T);
      wgmma_commit();
      if (warp == 0 && elect()) {
        int a = n - 1 + C::StagesK, b = n - 1 + C::StagesV;
        if (n && a < nb) {
          mbar_wait(k_empty + 8 * (a % C::StagesK), (a / C::StagesK - 1) & 1);
          load_k(a);
        }
        if (n && b < nb) {
          mbar_wait(v_empty + 8 * (b % C::StagesV), (b / C::StagesV - 1) & 1);
          load_v(b);
        }
      }
      __syncwarp();
      issue_dp();
      if (tid == 0)
        mbar_arrive(k_free);
    }
  };
  issue_dp();
#pragma unroll 1
  for (int n = 0; n < nb - 1; n++)
    step(std::false_type{}, n);
  step(std::true_type{}, nb - 1);
  wgmma_wait<0>();
  keep(dq);
  bar_sync(1 + wg, 128);
  store_tile<D, 64>(dq, scale, qw, tid);
  fence_async_smem();
  bar_sync(1 + wg, 128);
  if (tid == 0) {
    tma_store_4d(qw, &mdQ, 0, row0, 0, bh);
    bulk_commit();
    bulk_wait<0>();
  }
}
