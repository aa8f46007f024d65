// Grouped GEMM, one launch: rows off[e]..off[e+1] of A and C belong to expert e, C = A * B[e]^T, B
// is [E*N, K]. The flattened persistent loop without roles; only the tile number -> (expert, row
// tile, column tile) differs. Offsets are read on the device. A tile that ends inside leaves by
// masked quad stores (a TMA store would overwrite the next expert's rows), any other by TMA store.
#pragma once
#include "gemm.cuh"

template <class C>
__global__ __launch_bounds__(C::Consumers * 128,
                             1) void gemm_gp(const __grid_constant__ CUtensorMap mA,
                                             const __grid_constant__ CUtensorMap mB,
                                             const __grid_constant__ CUtensorMap mC, bf16 *out,
                                             const int *off, int E, int N, int K, int group) {
  using S = GemmSmem<C>;
  constexpr int MI = C::TileM / C::Consumers / 64;
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
  int tn = (N + C::TileN - 1) / C::TileN, KB = (K + 63) / 64;
  struct Tile {
    int row, end, brow, col;
  };
  auto locate = [&](int t, Tile &x) { // false past the last tile
    for (int e = 0; e < E; e++) {
      int lo = __ldg(off + e), hi = __ldg(off + e + 1), tm = (hi - lo + C::TileM - 1) / C::TileM;
      if (t < tm * tn) {
        int m, n;
        raster(t, tm, tn, group, m, n);
        x = {lo + m * C::TileM, hi, e * N + n * C::TileN, n * C::TileN};
        return true;
      }
      t -= tm * tn;
    }
    return false;
  };
  int lt = blockIdx.x, lkb = 0, lslot = 0;
  Tile l = {}, x = {};
  bool more = locate(lt, l);
  auto issue = [&] {
    if (!more)
      return;
    if (warp0 && elect()) {
      uint32_t a = base + lslot * S::STAGE, b = a + S::A_BYTES, bar = full + 8 * lslot;
      mbar_expect(bar, S::STAGE);
      tma_load_2d(a, &mA, bar, lkb * 64, l.row);
      tma_load_2d(b, &mB, bar, lkb * 64, l.brow);
    }
    if (++lslot == C::Stages)
      lslot = 0;
    if (++lkb == KB)
      lkb = 0, lt += gridDim.x, more = locate(lt, l);
  };
  for (int i = 0; i < C::Stages - 1; i++)
    issue();
  float acc[MI][C::TileN / 2];
  int slot = 0, phase = 0;
  for (int t = blockIdx.x; locate(t, x); t += gridDim.x) {
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
    int row = x.row + wg * MI * 64;
    if (row + MI * 64 <= x.end)
      store_tma<C>(acc, &mC, base + C::Stages * S::STAGE + wg * C::StoreBuffers * S::EPI_BUF, row,
                   x.col, tid, 1 + wg);
    else
      store_quad<C>(acc, out, row, x.col, x.end, N, tid);
  }
  if (tid == 0)
    bulk_wait<0>();
}
