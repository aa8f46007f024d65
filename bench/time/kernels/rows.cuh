// Memory-bound kernels. Rows of N bf16 (a multiple of 256 WarpsPerRow): Op 0 layernorm, 1 softmax,
// 2 copy (the ceiling of the same structure).
#pragma once
#include "ptx.cuh"

DEV uint4 ld16(const void *p) { return *(const uint4 *)p; }
DEV uint4 ld16_na(const void *p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.b32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}
DEV void st16(void *p, uint4 v) { *(uint4 *)p = v; }
DEV void st16_cs(void *p, uint4 v) {
  asm volatile("st.global.cs.v4.b32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}
DEV void unpack(uint4 v, float (&f)[8]) {
  uint32_t u[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; i++)
    f[2 * i] = __uint_as_float(u[i] << 16), f[2 * i + 1] = __uint_as_float(u[i] & 0xffff0000u);
}
DEV uint4 pack(const float (&f)[8]) {
  return make_uint4(pack_bf16(f[0], f[1]), pack_bf16(f[2], f[3]), pack_bf16(f[4], f[5]),
                    pack_bf16(f[6], f[7]));
}

// All threads of a row get the sum (or maximum). WarpsPerRow warps a row; bar: this row's named
// barrier.
template <int W, bool MAX> DEV float row_reduce(float v, float *red, int rw, int lane, int bar) {
#pragma unroll
  for (int i = 16; i; i >>= 1) {
    float o = __shfl_xor_sync(~0u, v, i);
    v = MAX ? fmaxf(v, o) : v + o;
  }
  if constexpr (W > 1) {
    if (lane == 0)
      red[rw] = v;
    bar_sync(bar, W * 32);
    v = red[0];
#pragma unroll
    for (int i = 1; i < W; i++)
      v = MAX ? fmaxf(v, red[i]) : v + red[i];
  }
  return v;
}
// One row in registers: v holds CH chunks of 8.
template <int OP, int CH, int W>
DEV void row_op(uint4 (&v)[CH], const uint4 *w, const uint4 *b, int t, float *red, int rw, int lane,
                int bar) {
  constexpr int N = CH * 8 * W * 32;
  float f[8];
  if constexpr (OP == 0) {
    float s = 0;
#pragma unroll
    for (int c = 0; c < CH; c++) {
      unpack(v[c], f);
#pragma unroll
      for (int i = 0; i < 8; i++)
        s += f[i];
    }
    float mean = row_reduce<W, false>(s, red, rw, lane, bar) * (1.f / N), q = 0;
#pragma unroll
    for (int c = 0; c < CH; c++) {
      unpack(v[c], f);
#pragma unroll
      for (int i = 0; i < 8; i++)
        q += (f[i] - mean) * (f[i] - mean);
    }
    float rstd = rsqrtf(row_reduce<W, false>(q, red + W, rw, lane, bar) * (1.f / N) + 1e-5f);
#pragma unroll
    for (int c = 0; c < CH; c++) {
      float g[8], h[8];
      unpack(v[c], f), unpack(w[c * W * 32 + t], g), unpack(b[c * W * 32 + t], h);
#pragma unroll
      for (int i = 0; i < 8; i++)
        f[i] = (f[i] - mean) * rstd * g[i] + h[i];
      v[c] = pack(f);
    }
  } else if constexpr (OP == 1) {
    float m = -INFINITY;
#pragma unroll
    for (int c = 0; c < CH; c++) {
      unpack(v[c], f);
#pragma unroll
      for (int i = 0; i < 8; i++)
        m = fmaxf(m, f[i]);
    }
    m = row_reduce<W, true>(m, red, rw, lane, bar) * 1.4426950408889634f;
    float s = 0;
#pragma unroll
    for (int c = 0; c < CH; c++) {
      unpack(v[c], f);
#pragma unroll
      for (int i = 0; i < 8; i++)
        s += ex2(fmaf(f[i], 1.4426950408889634f, -m));
    }
    float r = 1.f / row_reduce<W, false>(s, red + W, rw, lane, bar);
#pragma unroll
    for (int c = 0; c < CH; c++) {
      unpack(v[c], f);
#pragma unroll
      for (int i = 0; i < 8; i++)
        f[i] = ex2(fmaf(f[i], 1.4426950408889634f, -m)) * r;
      v[c] = pack(f);
    }
  }
}
// Registers: WarpsPerRow warps a row, RowsPerBlock rows a block; Persistent: grid-stride with the
// next row loaded before this one is reduced.
template <class C>
__global__ __launch_bounds__(C::WarpsPerRow *C::RowsPerBlock *
                             32) void rows_reg(const bf16 *x, const bf16 *w, const bf16 *b, bf16 *y,
                                               int R) {
  constexpr int N = C::RowLength, CH = N / (C::WarpsPerRow * 256);
  __shared__ float red[2][C::RowsPerBlock][2 * C::WarpsPerRow];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, rw = warp % C::WarpsPerRow,
      rb = warp / C::WarpsPerRow, t = rw * 32 + lane, it = 0;
  uint4 v[CH];
  int row = blockIdx.x * C::RowsPerBlock + rb;
  auto load = [&](int r, uint4(&d)[CH]) {
#pragma unroll
    for (int c = 0; c < CH; c++)
      d[c] = C::Hints ? ld16_na(x + (size_t)r * N + (c * C::WarpsPerRow * 32 + t) * 8)
                      : ld16(x + (size_t)r * N + (c * C::WarpsPerRow * 32 + t) * 8);
  };
  if (row < R)
    load(row, v);
  while (row < R) {
    uint4 nx[CH];
    int next = row + gridDim.x * C::RowsPerBlock;
    if constexpr (C::Persistent) {
      if (next < R)
        load(next, nx);
    }
    row_op<C::Op, CH, C::WarpsPerRow>(v, (const uint4 *)w, (const uint4 *)b, t, red[it & 1][rb], rw,
                                      lane, 1 + rb);
#pragma unroll
    for (int c = 0; c < CH; c++) {
      bf16 *p = y + (size_t)row * N + (c * C::WarpsPerRow * 32 + t) * 8;
      if (C::Hints)
        st16_cs(p, v[c]);
      else
        st16(p, v[c]);
    }
    if constexpr (!C::Persistent)
      break;
#pragma unroll
    for (int c = 0; c < CH; c++)
      v[c] = nx[c];
    row = next, it++;
  }
}
// Bulk copies: ring of Stages rows, in place; RowsPerBlock groups of WarpsPerRow warps take slots
// in turn; one more warp issues the loads.
template <class C>
__global__ __launch_bounds__(C::WarpsPerRow *C::RowsPerBlock * 32 +
                             32) void rows_bulk(const bf16 *x, const bf16 *w, const bf16 *b,
                                                bf16 *y, int R) {
  constexpr int N = C::RowLength, CH = N / (C::WarpsPerRow * 256), G = C::RowsPerBlock;
  extern __shared__ __align__(1024) uint8_t smem[];
  __shared__ float red[2][G][2 * C::WarpsPerRow];
  uint32_t base = smem_u32(smem), full = base + C::Stages * N * 2, empty = full + 8 * C::Stages;
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::Stages; i++)
      mbar_init(full + 8 * i, 1), mbar_init(empty + 8 * i, 1);
    mbar_init_fence();
  }
  __syncthreads();
  if (warp == C::WarpsPerRow * G) {
    if (elect()) {
      int s = 0, p = 1;
      for (int row = blockIdx.x; row < R; row += gridDim.x) {
        mbar_wait(empty + 8 * s, p);
        mbar_expect(full + 8 * s, N * 2);
        bulk_load(base + s * N * 2, x + (size_t)row * N, N * 2, full + 8 * s);
        if (++s == C::Stages)
          s = 0, p ^= 1;
      }
    }
  } else {
    int rw = warp % C::WarpsPerRow, g = warp / C::WarpsPerRow, t = rw * 32 + lane, i = g, prev = -1,
        it = 0;
    for (int row = blockIdx.x + g * gridDim.x; row < R; row += G * gridDim.x, i += G, it++) {
      int s = i % C::Stages, p = (i / C::Stages) & 1;
      mbar_wait(full + 8 * s, p);
      uint4 v[CH];
      uint4 *buf = (uint4 *)(smem + s * N * 2);
#pragma unroll
      for (int c = 0; c < CH; c++)
        v[c] = buf[c * C::WarpsPerRow * 32 + t];
      row_op<C::Op, CH, C::WarpsPerRow>(v, (const uint4 *)w, (const uint4 *)b, t, red[it & 1][g],
                                        rw, lane, 1 + g);
#pragma unroll
      for (int c = 0; c < CH; c++)
        buf[c * C::WarpsPerRow * 32 + t] = v[c];
      fence_async_smem();
      bar_sync(1 + g, C::WarpsPerRow * 32);
      if (t == 0) {
        bulk_store(y + (size_t)row * N, base + s * N * 2, N * 2);
        bulk_commit();
        if (prev >= 0) {
          bulk_wait_read<1>();
          mbar_arrive(empty + 8 * prev);
        }
        prev = s;
      }
    }
    if (t == 0) {
      if (prev >= 0) {
        bulk_wait_read<0>();
        mbar_arrive(empty + 8 * prev);
      }
      bulk_wait<0>();
    }
  }
}
// z = x + y, V elements a thread and access, U accesses a thread; Hints 1: no L1 for loads,
// streaming stores; Persistent: grid-stride.
template <class C>
__global__ __launch_bounds__(C::Threads) void add_k(const bf16 *x, const bf16 *w, const bf16 *,
                                                    bf16 *y, int R) {
  size_t n = (size_t)R * 4096 / 8; // 16-byte words
  const uint4 *a = (const uint4 *)x, *b = (const uint4 *)w;
  uint4 *z = (uint4 *)y;
  for (size_t base = (size_t)blockIdx.x * C::Threads * C::Accesses; base < n;
       base += (size_t)gridDim.x * C::Threads * C::Accesses) {
    if constexpr (C::Elements == 8) {
      uint4 p[C::Accesses], q[C::Accesses];
#pragma unroll
      for (int u = 0; u < C::Accesses; u++) {
        size_t i = base + u * C::Threads + threadIdx.x;
        p[u] = C::Hints ? ld16_na(a + i) : ld16(a + i);
        q[u] = C::Hints ? ld16_na(b + i) : ld16(b + i);
      }
#pragma unroll
      for (int u = 0; u < C::Accesses; u++) {
        size_t i = base + u * C::Threads + threadIdx.x;
        float f[8], g[8];
        unpack(p[u], f), unpack(q[u], g);
#pragma unroll
        for (int k = 0; k < 8; k++)
          f[k] += g[k];
        if (C::Hints)
          st16_cs(z + i, pack(f));
        else
          st16(z + i, pack(f));
      }
    } else { // V = 2: 4-byte accesses
#pragma unroll
      for (int u = 0; u < C::Accesses * 4; u++) {
        size_t i = base * 4 + u * C::Threads + threadIdx.x;
        ((__nv_bfloat162 *)z)[i] =
            __hadd2(((const __nv_bfloat162 *)a)[i], ((const __nv_bfloat162 *)b)[i]);
      }
    }
    if constexpr (!C::Persistent)
      break;
  }
}
