// Correct kernels that order threads and asynchronous copies by memory barriers, groups, fences and clusters; others are
// made from them by taking something out.
#pragma once

#include "tests/runtime/vgpu/Hopper.h"

namespace tile::vgpu {

// Thread 0 copies 4096 bytes into shared memory; everyone waits for them and adds 1 to its word.
inline const std::string kBulkLoad = R"(  @%q15 mbarrier.init.shared.b64 [full], 1;
  bar.sync 0;
  @!%q15 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], 4096;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%p], 4096, [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %t, 4, %r1;
  ld.shared.u32 %r2, [%r1];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%a+16384], %r2;
)";

constexpr auto addedOne = [](size_t i) {
  return static_cast<uint32_t>(i >= 4096 && i < 4096 + 64 ? i - 4096 + 1 : i);
};

// A ring of two stages: warp 0 copies, warp 1 adds up what has come and gives the stage back.
inline const std::string kRing = R"(  @!%q15 bra READY;
  mbarrier.init.shared.b64 [full], 1;
  mbarrier.init.shared.b64 [full+8], 1;
  mbarrier.init.shared.b64 [empty], 32;
  mbarrier.init.shared.b64 [empty+8], 32;
READY:
  bar.sync 0;
  mov.u32 %r1, 0;
  mov.u32 %r10, 0;
  mov.u32 %r20, tile;
  mov.u32 %r21, full;
  mov.u32 %r22, empty;
  setp.ne.u32 %q2, %w, 0;
  @%q2 bra CONSUME;
  @!%q15 bra DONE;
PRODUCE:
  and.b32 %r2, %r1, 1;
  shr.u32 %r3, %r1, 1;
  and.b32 %r3, %r3, 1;
  xor.b32 %r3, %r3, 1;
  mad.lo.u32 %r4, %r2, 8, %r21;
  mad.lo.u32 %r5, %r2, 8, %r22;
  mad.lo.u32 %r6, %r2, 128, %r20;
PWAIT:
  mbarrier.try_wait.parity.shared.b64 %q3, [%r5], %r3;
  @!%q3 bra PWAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;
  mad.wide.u32 %rd2, %r1, 128, %p;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%rd2], 128, [%r4];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %q4, %r1, 6;
  @%q4 bra PRODUCE;
  bra DONE;
CONSUME:
  and.b32 %r2, %r1, 1;
  shr.u32 %r3, %r1, 1;
  and.b32 %r3, %r3, 1;
  mad.lo.u32 %r4, %r2, 8, %r21;
  mad.lo.u32 %r5, %r2, 8, %r22;
  mad.lo.u32 %r6, %r2, 128, %r20;
CWAIT:
  mbarrier.try_wait.parity.shared.b64 %q3, [%r4], %r3;
  @!%q3 bra CWAIT;
  mad.lo.u32 %r7, %l, 4, %r6;
  ld.shared.u32 %r8, [%r7];
  add.u32 %r10, %r10, %r8;
  mbarrier.arrive.shared.b64 %rd3, [%r5];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %q4, %r1, 6;
  @%q4 bra CONSUME;
  st.global.u32 [%a+16256], %r10;
DONE:
)";

constexpr auto ringSums = [](size_t i) {
  return static_cast<uint32_t>(i < 4096 || i >= 4096 + 32 ? i : 6 * (i - 4096) + 32 * 15);
};

// All write shared memory, one thread copies it out.
inline const std::string kBulkStore = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  add.u32 %r3, %t, 100;
  st.shared.u32 [%r2], %r3;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%q15 bra DONE;
  add.u64 %rd1, %p, 16384;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
DONE:
  bar.sync 1;
  st.shared.u32 [%r2], %t;
)";

constexpr auto storedFrom100 = [](size_t i) {
  return static_cast<uint32_t>(i >= 4096 && i < 4160 ? i - 4096 + 100 : i);
};

// Rank 0 reads what rank 1 has written into its own shared memory.
inline const std::string kCluster = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  mov.u32 %r3, %cluster_ctarank;
  mad.lo.u32 %r4, %r3, 1000, %t;
  st.shared.u32 [%r2], %r4;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  xor.b32 %r5, %r3, 1;
  mapa.shared::cluster.u32 %r6, %r2, %r5;
  ld.shared::cluster.u32 %r7, [%r6];
  mov.u32 %r8, %ctaid.x;
  mad.lo.u32 %r9, %r8, 64, %t;
  mad.wide.u32 %rd1, %r9, 4, %p;
  st.global.u32 [%rd1], %r7;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";

constexpr auto neighboursWords = [](size_t i) {
  return static_cast<uint32_t>(i < 256 ? (i / 64 % 2 ? 0 : 1000) + i % 64 : i);
};

// Rank 0 multicasts to both blocks; each waits on its own barrier.
inline const std::string kMulticast = R"(  @%q15 mbarrier.init.shared.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  @!%q15 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], 256;
  mov.u32 %r3, %cluster_ctarank;
  setp.ne.u32 %q3, %r3, 0;
  @%q3 bra WAIT;
  mov.b16 %h1, 3;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%p], 256, [full], %h1;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %t, 4, %r1;
  ld.shared.u32 %r2, [%r1];
  mov.u32 %r8, %ctaid.x;
  mad.lo.u32 %r9, %r8, 64, %t;
  mad.wide.u32 %rd2, %r9, 4, %p;
  st.global.u32 [%rd2+16384], %r2;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";

constexpr auto multicastWords = [](size_t i) {
  return static_cast<uint32_t>(i >= 4096 && i < 4096 + 128 ? (i - 4096) % 64 : i);
};

// Two stages of 64 words; each thread copies a word and reads its neighbour's, for 4 tiles.
inline const std::string kStages = R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  xor.b32 %r3, %r2, 128;
  mov.u32 %r10, 0;
  mov.u32 %r11, 0;
  cp.async.ca.shared.global [%r2], [%a], 4;
  cp.async.commit_group;
LOOP:
  add.u32 %r12, %r11, 1;
  and.b32 %r13, %r12, 1;
  mad.lo.u32 %r14, %r13, 256, %r2;
  mad.wide.u32 %rd1, %r12, 256, %a;
  setp.lt.u32 %q1, %r12, 4;
  @%q1 cp.async.ca.shared.global [%r14], [%rd1], 4;
  cp.async.commit_group;
  cp.async.wait_group 1;
  bar.sync 0;
  and.b32 %r15, %r11, 1;
  mad.lo.u32 %r16, %r15, 256, %r3;
  ld.shared.u32 %r17, [%r16];
  add.u32 %r10, %r10, %r17;
  bar.sync 1;
  mov.u32 %r11, %r12;
  @%q1 bra LOOP;
  st.global.u32 [%a+16384], %r10;
)";

constexpr auto stageSums = [](size_t i) {
  return static_cast<uint32_t>(i >= 4096 && i < 4160 ? 4 * ((i - 4096) ^ 32) + 64 * 6 : i);
};

} // namespace tile::vgpu
