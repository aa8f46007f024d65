// Correct kernels of the kind libraries write for sm_90a: tensor copies, pipelines of wgmma with warps of their own for
// copies, stores that tell another block's barrier. After a line that ends in `// turn REGISTER BITS` these bits of the
// register change in a mutant: another stage, or another phase.
#pragma once

#include "tests/runtime/vgpu/PipelineKernels.h"

namespace tile::vgpu {

// A full and an empty barrier for each of two stages; %r20 to %r22 are the stages and the barriers.
inline std::string twoStages(unsigned producers, unsigned consumers) {
  std::string full = std::to_string(producers), empty = std::to_string(consumers);
  return R"(  mov.u32 %r20, tile;
  mov.u32 %r21, full;
  mov.u32 %r22, empty;
  @!%q15 bra READY;
  mbarrier.init.shared.b64 [full], )" +
         full + ";\n  mbarrier.init.shared.b64 [full+8], " + full +
         ";\n  mbarrier.init.shared.b64 [empty], " + empty +
         ";\n  mbarrier.init.shared.b64 [empty+8], " + empty + ";\nREADY:\n";
}

// Of round %r1: the stage %r2, its address %r6, its barriers %r4 and %r5, and the phase %r3 of whoever waits for it first
// if `first`, or of whoever waits for it to be given back.
inline std::string stageOfRound(unsigned stageBytes, bool first) {
  return R"(  and.b32 %r2, %r1, 1;
  shr.u32 %r3, %r1, 1;
  and.b32 %r3, %r3, 1; // turn %r3 1
)" + std::string(first ? "" : "  xor.b32 %r3, %r3, 1;\n") +
         R"(  mad.lo.u32 %r4, %r2, 8, %r21;
  mad.lo.u32 %r5, %r2, 8, %r22;
  mad.lo.u32 %r6, %r2, )" +
         std::to_string(stageBytes) + ", %r20; // turn %r6 " + std::to_string(stageBytes) + "\n";
}

inline std::string nextRound(unsigned rounds, const std::string &label) {
  return "  add.u32 %r1, %r1, 1;\n  setp.lt.u32 %q4, %r1, " + std::to_string(rounds) +
         ";\n  @%q4 bra " + label + ";\n";
}

// Warp 0 loads boxes, `at` being where box %r1 begins, and warp 1 combines 32 words of 6 boxes in their order.
inline std::string tensorRing(unsigned rank, const std::string &at) {
  return "  mov.u64 %rd3, map;\n  cvta.param.u64 %rd3, %rd3;\n" + twoStages(1, 32) +
         R"(  bar.sync 0;
  mov.u32 %r1, 0;
  mov.u32 %r10, 0;
  setp.ne.u32 %q2, %w, 0;
  @%q2 bra CONSUME;
  @!%q15 bra DONE;
PRODUCE:
)" + stageOfRound(128, false) +
         R"(PWAIT:
  mbarrier.try_wait.parity.shared.b64 %q3, [%r5], %r3;
  @!%q3 bra PWAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;
  mul.lo.u32 %r11, %r1, 4;
  cp.async.bulk.tensor.)" +
         std::to_string(rank) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r6], [%rd3, {" + at +
         "}], [%r4];\n" + nextRound(6, "PRODUCE") + "  bra DONE;\nCONSUME:\n" +
         stageOfRound(128, true) + R"(CWAIT:
  mbarrier.try_wait.parity.shared.b64 %q3, [%r4], %r3;
  @!%q3 bra CWAIT;
  mad.lo.u32 %r7, %l, 4, %r6;
  ld.shared.u32 %r8, [%r7];
  mad.lo.u32 %r10, %r10, 3, %r8;
  mbarrier.arrive.shared.b64 _, [%r5];
)" + nextRound(6, "CONSUME") +
         "  st.global.u32 [%a+16256], %r10;\nDONE:\n";
}

// All write a box of 8 x 8 words and a thread stores or adds it, six times on two stages: at most one is in flight while
// the other is filled.
inline std::string tensorStores(const std::string &instruction) {
  return R"(  mov.u64 %rd3, map;
  cvta.param.u64 %rd3, %rd3;
  mov.u32 %r1, 0;
  mov.u32 %r20, tile;
LOOP:
  and.b32 %r2, %r1, 1;
  mad.lo.u32 %r3, %r2, 256, %r20;
  mad.lo.u32 %r4, %t, 4, %r3; // turn %r4 256
  mad.lo.u32 %r5, %r1, 1000, %t;
  @%q15 cp.async.bulk.wait_group.read 1;
  bar.sync 0;
  st.shared.u32 [%r4], %r5;
  fence.proxy.async.shared::cta;
  bar.sync 1;
  @!%q15 bra NEXT;
  mul.lo.u32 %r6, %r1, 8;
  )" + instruction +
         R"( [%rd3, {%r6, 0}], [%r3];
  cp.async.bulk.commit_group;
NEXT:
)" + nextRound(6, "LOOP") +
         R"(  @%q15 cp.async.bulk.wait_group 0;
  bar.sync 0;
  ld.global.u32 %r7, [%a];
  st.global.u32 [%a+24576], %r7;
)";
}

// Two blocks load half a box each into the shared memory of both; a stage is given back when both have read it.
inline const std::string kMulticastRing = "  mov.u64 %rd3, map;\n  cvta.param.u64 %rd3, %rd3;\n" +
                                          twoStages(1, 64) +
                                          R"(  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.acquire.aligned;
  mov.u32 %r1, 0;
  mov.u32 %r10, 0;
  mov.u32 %r12, %cluster_ctarank;
  setp.ne.u32 %q2, %w, 0;
  @%q2 bra CONSUME;
  @!%q15 bra DONE;
PRODUCE:
)" + stageOfRound(256, false) +
                                          R"(PWAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q3, [%r5], %r3;
  @!%q3 bra PWAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 256;
  mul.lo.u32 %r11, %r1, 8;
  mul.lo.u32 %r13, %r12, 4;
  mad.lo.u32 %r14, %r12, 128, %r6;
  mov.b16 %h1, 3;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r14], [%rd3, {%r11, %r13}], [%r4], %h1;
)" + nextRound(5, "PRODUCE") + "  bra DONE;\nCONSUME:\n" +
                                          stageOfRound(256, true) + R"(CWAIT:
  mbarrier.try_wait.parity.shared.b64 %q3, [%r4], %r3;
  @!%q3 bra CWAIT;
  mad.lo.u32 %r7, %l, 4, %r6;
  ld.shared.u32 %r8, [%r7];
  ld.shared.u32 %r9, [%r7+128];
  mad.lo.u32 %r10, %r10, 3, %r8;
  mad.lo.u32 %r10, %r10, 3, %r9;
  mapa.shared::cluster.u32 %r15, %r5, 0;
  mapa.shared::cluster.u32 %r16, %r5, 1;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r16];
)" + nextRound(5, "CONSUME") +
                                          R"(  mov.u32 %r17, %ctaid.x;
  mad.lo.u32 %r18, %r17, 32, %l;
  mad.wide.u32 %rd4, %r18, 4, %p;
  st.global.u32 [%rd4+16384], %r10;
DONE:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
)";

// A warpgroup multiplies 64 x 16 by 16 x 8 halves, six times, from two stages that the other warpgroup fills. `operandA` is
// the address of A, or registers that `loadA` fills; `pending` products may still run when the next begins. In the end the
// sums are stored by a bulk copy.
inline std::string wgmmaRing(const std::string &loadA, const std::string &operandA,
                             unsigned pending) {
  std::string giveBack = pending ? R"(  setp.eq.u32 %q5, %r1, 0;
  @%q5 bra FIRST;
  mbarrier.arrive.shared.b64 _, [%r9];
FIRST:
  mov.u32 %r9, %r5;
)"
                                 : "  mbarrier.arrive.shared.b64 _, [%r5];\n";
  std::string majors = loadA.empty() ? ", 0, 0" : ", 0"; // of A and B, or of B alone
  return twoStages(1, 128) + R"(  .reg .f32 %d<4>;
  bar.sync 0;
  mov.u32 %r1, 0;
  setp.lt.u32 %q2, %t, 128;
  @%q2 bra MULTIPLY;
  setmaxnreg.dec.sync.aligned.u32 24;
  setp.ne.u32 %q3, %t, 128;
  @%q3 bra DONE;
PRODUCE:
)" + stageOfRound(4096, false) +
         R"(PWAIT:
  mbarrier.try_wait.parity.shared.b64 %q3, [%r5], %r3;
  @!%q3 bra PWAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 2304;
  mad.wide.u32 %rd2, %r1, 2304, %p;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%rd2], 2048, [%r4];
  add.u64 %rd3, %rd2, 2048;
  add.u32 %r7, %r6, 2048;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r7], [%rd3], 256, [%r4];
)" + nextRound(6, "PRODUCE") +
         R"(  bra DONE;
MULTIPLY:
  setmaxnreg.inc.sync.aligned.u32 208;
  setp.eq.u32 %q6, %t, %t;
  mov.f32 %d0, 0f00000000;
  mov.f32 %d1, 0f00000000;
  mov.f32 %d2, 0f00000000;
  mov.f32 %d3, 0f00000000;
CONSUME:
)" + stageOfRound(4096, true) +
         R"(CWAIT:
  mbarrier.try_wait.parity.shared.b64 %q3, [%r4], %r3;
  @!%q3 bra CWAIT;
  shr.u32 %r7, %r6, 4;
  cvt.u64.u32 %rd4, %r7;
  add.u64 %rd5, %rd4, 34360262784;
  add.u64 %rd4, %rd4, 34363932672;
)" + loadA +
         R"(  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, )" +
         operandA + ", %rd5, %q6, 1, 1" + majors + R"(;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned )" +
         std::to_string(pending) + ";\n" + giveBack + nextRound(6, "CONSUME") +
         (pending ? "  wgmma.wait_group.sync.aligned 0;\n" : "") + R"(  bar.sync 1, 128;
  mad.lo.u32 %r8, %t, 16, %r20;
  st.shared.v4.f32 [%r8], {%d0, %d1, %d2, %d3};
  fence.proxy.async.shared::cta;
  bar.sync 1, 128;
  @!%q15 bra STORED;
  add.u64 %rd6, %p, 16384;
  cp.async.bulk.global.shared::cta.bulk_group [%rd6], [tile], 2048;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
STORED:
  bar.sync 1, 128;
  st.shared.u32 [%r8], %t;
DONE:
)";
}

inline const std::string kDescriptorProducts = wgmmaRing("", "%rd4", 1);

// The fragments of A: registers of two halves, from the 8 x 16 bytes that lie together.
inline const std::string kRegisterProducts = wgmmaRing(R"(  shr.u32 %r23, %l, 2;
  and.b32 %r24, %l, 3;
  mad.lo.u32 %r25, %r23, 16, %r6;
  mad.lo.u32 %r25, %w, 256, %r25;
  mad.lo.u32 %r25, %r24, 4, %r25;
  ld.shared.u32 %r26, [%r25];
  ld.shared.u32 %r27, [%r25+128];
  ld.shared.u32 %r28, [%r25+1024];
  ld.shared.u32 %r29, [%r25+1152];
)",
                                                       "{%r26, %r27, %r28, %r29}", 0);

// A ring in rank 0 that rank 1 fills word by word; whoever has read a stage tells rank 1.
inline const std::string kRemoteRing =
    twoStages(1, 32) + R"(  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.acquire.aligned;
  mov.u32 %r1, 0;
  mov.u32 %r10, 0;
  mov.u32 %r12, %cluster_ctarank;
  setp.ne.u32 %q2, %w, 0;
  @%q2 bra DONE;
  setp.eq.u32 %q2, %r12, 0;
  @%q2 bra CONSUME;
PRODUCE:
)" + stageOfRound(128, false) +
    R"(PWAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q3, [%r5], %r3;
  @!%q3 bra PWAIT;
  mad.lo.u32 %r7, %l, 4, %r6;
  mapa.shared::cluster.u32 %r13, %r7, 0;
  mapa.shared::cluster.u32 %r14, %r4, 0;
  mad.lo.u32 %r8, %r1, 1000, %t;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r13], %r8, [%r14];
)" + nextRound(6, "PRODUCE") +
    "  bra DONE;\nCONSUME:\n" + stageOfRound(128, true) +
    R"(  @%q15 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;
CWAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q3, [%r4], %r3;
  @!%q3 bra CWAIT;
  mad.lo.u32 %r7, %l, 4, %r6;
  ld.shared.u32 %r8, [%r7];
  mad.lo.u32 %r10, %r10, 3, %r8;
  mapa.shared::cluster.u32 %r15, %r5, 1;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];
)" + nextRound(6, "CONSUME") +
    R"(  st.global.u32 [%a+16384], %r10;
DONE:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
)";

// Both blocks add to words of rank 0, which has set them before.
inline const std::string kRemoteSums = R"(  mov.u32 %r1, tile;
  mov.u32 %r2, full;
  mad.lo.u32 %r3, %t, 4, %r1;
  mov.u32 %r4, %cluster_ctarank;
  st.shared.u32 [%r3], %t;
  @%q15 mbarrier.init.shared.b64 [full], 1;
  setp.eq.and.u32 %q1, %r4, 0, %q15;
  @%q1 mbarrier.arrive.expect_tx.shared.b64 _, [full], 512;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mapa.shared::cluster.u32 %r5, %r3, 0;
  mapa.shared::cluster.u32 %r6, %r2, 0;
  mad.lo.u32 %r7, %r4, 1000, 5;
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5], %r7, [%r6];
  setp.ne.u32 %q2, %r4, 0;
  @%q2 bra DONE;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q3, [full], 0;
  @!%q3 bra WAIT;
  ld.shared.u32 %r8, [%r3];
  st.global.u32 [%a+16384], %r8;
DONE:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
)";

// The words of two blocks go round, six times: a barrier of the cluster before the neighbour reads, another before the words
// change.
inline const std::string kClusterRounds = R"(  mov.u32 %r1, 0;
  mov.u32 %r2, tile;
  mad.lo.u32 %r2, %t, 4, %r2;
  mov.u32 %r3, %cluster_ctarank;
  xor.b32 %r4, %r3, 1;
  mapa.shared::cluster.u32 %r5, %r2, %r4;
  mad.lo.u32 %r6, %r3, 1000, %t;
LOOP:
  st.shared.u32 [%r2], %r6;
  barrier.cluster.arrive.release.aligned;
  mad.lo.u32 %r6, %r6, 3, 1;
  barrier.cluster.wait.acquire.aligned;
  ld.shared::cluster.u32 %r7, [%r5];
  add.u32 %r6, %r6, %r7;
  fence.acq_rel.cluster;
  barrier.cluster.arrive.relaxed.aligned;
  barrier.cluster.wait.acquire.aligned;
)" + nextRound(6, "LOOP") + R"(  mov.u32 %r8, %ctaid.x;
  mad.lo.u32 %r9, %r8, 64, %t;
  mad.wide.u32 %rd1, %r9, 4, %p;
  st.global.u32 [%rd1], %r6;
)";

// Each block copies its words into the other's shared memory, whose barrier hears of the bytes.
inline const std::string kRemoteCopy = R"(  mov.u32 %r1, tile;
  mov.u32 %r2, full;
  mad.lo.u32 %r3, %t, 4, %r1;
  mov.u32 %r4, %cluster_ctarank;
  xor.b32 %r5, %r4, 1;
  mad.lo.u32 %r6, %r4, 1000, %t;
  st.shared.u32 [%r3], %r6;
  @%q15 mbarrier.init.shared.b64 [full], 1;
  fence.proxy.async;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  @!%q15 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
  add.u32 %r7, %r1, 1024;
  mapa.shared::cluster.u32 %r8, %r7, %r5;
  mapa.shared::cluster.u32 %r9, %r2, %r5;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], [%r1], 256, [%r9];
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q3, [full], 0;
  @!%q3 bra WAIT;
  ld.shared.u32 %r10, [%r3+1024];
  mov.u32 %r11, %ctaid.x;
  mad.lo.u32 %r12, %r11, 64, %t;
  mad.wide.u32 %rd1, %r12, 4, %p;
  st.global.u32 [%rd1], %r10;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
)";

// Threads copy words with cp.async and arrive when they have come; the barrier counts each of them.
inline const std::string kArrivingCopies = R"(  @%q15 mbarrier.init.shared.b64 [full], 64;
  bar.sync 0;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  xor.b32 %r3, %r2, 128;
  cp.async.ca.shared.global [%r2], [%a], 4;
  cp.async.mbarrier.arrive.noinc.shared.b64 [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q3, [full], 0;
  @!%q3 bra WAIT;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%a+16384], %r4;
)";

} // namespace tile::vgpu
