// The PTX a Hopper tile compiler needs, one function each.
#pragma once
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <type_traits>
#define DEV __device__ __forceinline__
typedef __nv_bfloat16 bf16;

DEV uint32_t smem_u32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// Mbarriers
DEV void mbar_init(uint32_t b, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(count) : "memory");
}
DEV void mbar_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEV void mbar_expect(uint32_t b, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes)
               : "memory");
}
DEV void mbar_arrive(uint32_t b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory");
}
// Plain arrive. Spelled .release.cluster it becomes MEMBAR.ALL.GPU + ERRBAR + arrive, and a wait
// with .acquire.cluster gets a CCTL.IVALL.
DEV void mbar_arrive_cluster(uint32_t b, uint32_t cta) {
  asm volatile("{ .reg .b32 r; mapa.shared::cluster.u32 r, %0, %1; "
               "mbarrier.arrive.shared::cluster.b64 _, [r]; }" ::"r"(b),
               "r"(cta)
               : "memory");
}
DEV void mbar_arrive_cluster_slow(uint32_t b, uint32_t cta) {
  asm volatile("{ .reg .b32 r; mapa.shared::cluster.u32 r, %0, %1; "
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r]; }" ::"r"(b),
               "r"(cta)
               : "memory");
}
#ifdef WATCH // diagnosis: a wait of more than 0.2 s reports itself and ends the thread
#include <cstdio>
DEV void mbar_wait(uint32_t b, uint32_t parity) {
  uint32_t ok = 0;
  long long t0 = clock64();
  while (!ok) {
    asm volatile("{ .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n "
                 "selp.b32 %0, 1, 0, p; }"
                 : "=r"(ok)
                 : "r"(b), "r"(parity)
                 : "memory");
    if (!ok && clock64() - t0 > 400000000ll) {
      if (blockIdx.x < 2 && threadIdx.x % 32 < 1 + 31 * (threadIdx.x < 32))
        printf("stuck: block %d thread %d barrier 0x%x parity %u\n", blockIdx.x, threadIdx.x, b,
               parity);
      asm volatile("exit;");
    }
  }
}
#else
DEV void mbar_wait(uint32_t b, uint32_t parity) {
  asm volatile("{ .reg .pred p;\nWAIT:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n "
               "@p bra DONE;\n bra WAIT;\nDONE: }" ::"r"(b),
               "r"(parity)
               : "memory");
}
#endif
DEV void mbar_wait_cluster(uint32_t b, uint32_t parity) {
  asm volatile("{ .reg .pred p;\nWAIT:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
               "p, [%0], %1;\n @p bra DONE;\n bra WAIT;\nDONE: }" ::"r"(b),
               "r"(parity)
               : "memory");
}

// TMA
DEV void tma_prefetch_map(const CUtensorMap *m) {
  asm volatile("prefetch.tensormap [%0];" ::"l"((uint64_t)m) : "memory");
}
DEV void tma_load_2d(uint32_t dst, const CUtensorMap *m, uint32_t bar, int c0, int c1) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4}], [%2];" ::"r"(dst),
               "l"((uint64_t)m), "r"(bar), "r"(c0), "r"(c1)
               : "memory");
}
DEV void tma_load_3d(uint32_t dst, const CUtensorMap *m, uint32_t bar, int c0, int c1, int c2) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(dst),
               "l"((uint64_t)m), "r"(bar), "r"(c0), "r"(c1), "r"(c2)
               : "memory");
}
DEV void tma_load_4d(uint32_t dst, const CUtensorMap *m, uint32_t bar, int c0, int c1, int c2,
                     int c3) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(dst),
               "l"((uint64_t)m), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}
DEV void tma_load_2d_mc(uint32_t dst, const CUtensorMap *m, uint32_t bar, uint16_t mask, int c0,
                        int c1) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
               "multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(dst),
               "l"((uint64_t)m), "r"(bar), "h"(mask), "r"(c0), "r"(c1)
               : "memory");
}
DEV void tma_load_3d_mc(uint32_t dst, const CUtensorMap *m, uint32_t bar, uint16_t mask, int c0,
                        int c1, int c2) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
               "multicast::cluster [%0], [%1, {%4, %5, %6}], [%2], %3;" ::"r"(dst),
               "l"((uint64_t)m), "r"(bar), "h"(mask), "r"(c0), "r"(c1), "r"(c2)
               : "memory");
}
DEV void tma_store_3d(uint32_t src, const CUtensorMap *m, int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4}], [%0];" ::"r"(
          src),
      "l"((uint64_t)m), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}
DEV void tma_store_4d(uint32_t src, const CUtensorMap *m, int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4, %5}], [%0];" ::
          "r"(src),
      "l"((uint64_t)m), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}
DEV void bulk_load(uint32_t dst, const void *src, uint32_t bytes, uint32_t bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(dst),
      "l"(src), "r"(bytes), "r"(bar)
      : "memory");
}
DEV void bulk_store(void *dst, uint32_t src, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(src),
               "r"(bytes)
               : "memory");
}
DEV void bulk_reduce_add_f32(void *dst, uint32_t src, uint32_t bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(dst),
      "r"(src), "r"(bytes)
      : "memory");
}
DEV void red_add_v4(float *dst, float a, float b, float c, float d) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(dst), "f"(a),
               "f"(b), "f"(c), "f"(d)
               : "memory");
}
DEV void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> DEV void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
template <int N> DEV void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}
DEV void fence_async_smem() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// wgmma
DEV void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEV void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEV void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// 128-byte swizzle; lbo and sbo in bytes. K-major: lbo unused, sbo 1024. MN-major: lbo between
// 64-column panels, sbo 1024.
DEV uint64_t wgmma_desc(uint32_t addr, uint32_t lbo, uint32_t sbo) {
  return (uint64_t)((addr & 0x3FFFF) >> 4) | ((uint64_t)(lbo >> 4) << 16) |
         ((uint64_t)(sbo >> 4) << 32) | (1ull << 62);
}
#include "wgmma.cuh"

// Registers, barriers, clusters, matrix stores
template <int R> DEV void reg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(R));
}
template <int R> DEV void reg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(R));
}
DEV void bar_sync(int id, int n) {
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "r"(n) : "memory");
}
DEV void bar_arrive(int id, int n) {
  asm volatile("barrier.arrive.aligned %0, %1;" ::"r"(id), "r"(n) : "memory");
}
DEV bool elect() {
  uint32_t p;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(p));
  return p;
}
DEV uint32_t cluster_rank() {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
DEV void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}
DEV void stmatrix_x4(uint32_t a, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(a),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}
DEV void stmatrix_x4_t(uint32_t a, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(a),
      "r"(r0), "r"(r1), "r"(r2), "r"(r3)
      : "memory");
}
DEV float4 lds128(uint32_t a) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(a)
               : "memory");
  return v;
}
DEV void sts128(uint32_t a, float x, float y, float z, float w) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(a), "f"(x), "f"(y), "f"(z), "f"(w)
               : "memory");
}
DEV uint32_t pack_bf16(float lo, float hi) {
  uint32_t r;
  asm("cvt.rn.bf16x2.f32 %0, %2, %1;" : "=r"(r) : "f"(lo), "f"(hi));
  return r;
}
DEV float ex2(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
// byte offset of 16-byte chunk c (0..7) of row r in a tile of 128-byte rows with 128B swizzle
DEV uint32_t swz(uint32_t r, uint32_t c) { return r * 128 + ((c ^ (r & 7)) << 4); }
