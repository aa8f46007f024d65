// What looks like a fault and is none: correct kernels that careless checkers report.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

const Shape kWarp{{1}, {32}, {}, {}};

// Replicated layouts store duplicates.
TEST(NoFalsePositive, EqualValuesFromManyThreads) {
  const std::string good = hopper(R"(  mov.u32 %r1, tile;
  and.b32 %r2, %t, 7;
  mad.lo.u32 %r3, %r2, 4, %r1;
  st.shared.u32 [%r3], %r2;
  bar.sync 0;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%p], 3;
  st.global.u32 [%a+256], %r4;
)");
  expectNoFault(good, [](size_t i) {
    return static_cast<uint32_t>(i == 0 ? 3 : i >= 64 && i < 128 ? i % 8 : i);
  });
  // To the strict they are races, inside a warp and between warps.
  for (auto [schedule, seed] : kSchedules) {
    auto gpu = launch(good, schedule, seed, {}, 1, "all,strict");
    gpu->expectFinding(WarpRace, lineOf(good, "st.shared.u32 [%r3], %r2"));
    gpu->expectFinding(WarpRace, lineOf(good, "st.global.u32 [%p], 3"));
  }
}

// A tile is read, then filled by a copy: happens-before is enough.
TEST(NoFalsePositive, CopyOverWhatHasBeenRead) { expectNoFault(hopper(kRing), ringSums); }

// PTX wants a fence there; the check `proxy` asks for it.
void expectFenceWanted(const std::string &good, const std::vector<Edit> &fence,
                       const std::string &where) {
  const std::string broken = hopper(good), fenced = hopper(edited(good, fence));
  for (auto [schedule, seed] : kSchedules) {
    launch(broken, schedule, seed)->expectClean();
    launch(fenced, schedule, seed, {}, 1, "all,proxy")->expectClean();
    auto gpu = launch(broken, schedule, seed, {}, 1, "all,proxy");
    gpu->expectFinding(Proxy, lineOf(broken, where));
    for (const Finding &finding : gpu->findings)
      EXPECT_NE(finding.message.find(" may overtake an earlier read: fence.proxy.async"),
                std::string::npos)
          << finding.text();
  }
}

TEST(ProxyCheck, ARingNeedsAFenceByWhoeverReadsOrCopies) {
  const std::string fence = "  fence.proxy.async;\n", copy = "cp.async.bulk.shared",
                    arrive = "  mbarrier.arrive.shared.b64 %rd3, [%r5];\n",
                    expect = "  mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;\n";
  expectFenceWanted(kRing, {{arrive, fence + arrive}}, copy);
  expectFenceWanted(kRing, {{expect, fence + expect}}, copy);
}

// The reads of all warps and of one, of whole chunks and of halves; a copy out of the tile hides none of them.
TEST(ProxyCheck, EveryReadBeforeACopyCounts) {
  for (const char *read :
       {"ld.shared.u32 %r3, [%r2];", "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r1];",
        "@%q15 ld.shared.u32 %r3, [%r2];", "ld.shared.u16 %h1, [%r2+2];"})
    for (const char *between :
         {"", R"(  @%q15 cp.async.bulk.global.shared::cta.bulk_group [%p+16384], [tile], 256;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
)"}) {
      SCOPED_TRACE(std::string(read) + between);
      const std::string refill = std::string(R"(  @%q15 mbarrier.init.shared.b64 [full], 1;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  fence.proxy.async;
  bar.sync 0;
  )") + read + "\n" + between + R"(  bar.sync 1;
  @!%q15 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%p+256], 256, [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  ld.shared.u32 %r7, [%r2];
  st.global.u32 [%a], %r7;
)";
      expectFenceWanted(refill, {{"  bar.sync 1;\n", "  fence.proxy.async;\n  bar.sync 1;\n"}},
                        "cp.async.bulk.shared");
    }
}

// A copy to global memory that has been read.
TEST(ProxyCheck, GlobalMemoryToo) {
  const std::string fence = "  fence.proxy.async.shared::cta;\n",
                    read = "  ld.global.u32 %r5, [%a+16384];\n";
  expectFenceWanted(edited(kBulkStore, {{fence, fence + read}}), {{read, read + fence}},
                    "cp.async.bulk.global");
}

TEST(NoFalsePositive, StrongAccesses) {
  expectNoFault(hopper(R"(  red.relaxed.gpu.global.add.u32 [%p], 1;
  ld.relaxed.gpu.global.u32 %r1, [%p];
  ld.volatile.global.u32 %r2, [%p];
  bar.sync 0;
)"),
                [](size_t i) { return static_cast<uint32_t>(i ? i : 64); });
}

TEST(NoFalsePositive, WordsOfBarriers) { expectNoFault(hopper(kBulkLoad), addedOne); }

// Rows are longer than what is used of them; the padding is written by others at the same time.
TEST(NoFalsePositive, NeighbouringBytes) {
  expectNoFault(hopper(R"(  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %t;
  cvt.u16.u32 %h0, %t;
  st.shared.u8 [%r2], %h0;
  ld.shared.u8 %h1, [%r2];
  cvt.u32.u16 %r3, %h1;
  st.global.u32 [%a], %r3;
)"),
                unchanged);
}

TEST(NoFalsePositive, PartialBarriersAndExitedWarps) {
  expectNoFault(hopper(R"(  setp.eq.u32 %q1, %w, 3;
  @%q1 exit;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  setp.eq.u32 %q2, %w, 2;
  @%q2 bra ALL;
  bar.sync 1, 64;
  xor.b32 %r3, %r2, 128;
  ld.shared.u32 %r4, [%r3];
ALL:
  bar.sync 0;
  st.global.u32 [%a], %t;
)"),
                unchanged, {{1}, {128}, {}, {}});
}

TEST(NoFalsePositive, UnusedUninitialisedValues) {
  expectNoFault(hopper(R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 8, %r1;
  st.shared.u32 [%r2], %t;
  ld.shared.v2.u32 {%r3, %r4}, [%r2];
  setp.lt.u32 %q1, %t, 64;
  selp.u32 %r5, %r3, %r4, %q1;
  mov.u32 %r6, 0;
  @!%q1 mov.u32 %r6, %r4;
  add.u32 %r5, %r5, %r6;
  st.global.u32 [%a], %r5;
)"),
                unchanged);
}

// Masked lanes, sources of size 0 and prefetches may have any address.
TEST(NoFalsePositive, AddressesNobodyTouches) {
  expectNoFault(
      hopper(R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 16, %r1;
  mad.wide.u32 %rd1, %t, 1048576, %p;
  prefetch.global.L2 [%rd1];
  @%q15 ld.global.u32 %r3, [%rd1];
  @!%q15 mov.u32 %r3, 0;
  selp.u32 %r4, 16, 0, %q15;
  cp.async.cg.shared.global [%r2], [%rd1], 16, %r4;
  cp.async.wait_all;
  ld.shared.u32 %r5, [%r2+4];
  add.u32 %r5, %r5, %r3;
  st.global.u32 [%a+4096], %r5;
)"),
      [](size_t i) { return static_cast<uint32_t>(i < 1024 || i >= 1088 ? i : i == 1024); });
}

TEST(NoFalsePositive, ProgramOrderOfALaneThroughShuffles) {
  expectNoFault(
      hopper(R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %l, 4, %r1;
  st.shared.u32 [%r2], %t;
  shfl.sync.idx.b32 %r3, %t, 5, 31, -1;
  ld.shared.u32 %r4, [%r2];
  add.u32 %r4, %r4, 1;
  st.shared.u32 [%r2], %r4;
  ld.shared.u32 %r5, [%r2];
  st.global.u32 [%a], %r5;
)"),
      [](size_t i) { return static_cast<uint32_t>(i < 32 ? i + 1 : i); }, kWarp);
}

// Without another launch to wait for, dependent launches change nothing.
TEST(NoFalsePositive, DependentLaunches) {
  expectNoFault(hopper("  griddepcontrol.wait;\n  griddepcontrol.launch_dependents;\n"), unchanged);
}

} // namespace
} // namespace tile::vgpu
