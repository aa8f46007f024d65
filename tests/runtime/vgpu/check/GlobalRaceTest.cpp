// Races in global memory, between blocks and within one: kernels that order their accesses are clean, and each is reported
// once what orders them is taken out.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

// Runs `k` with `blocks` blocks; `word` is a module variable for flags.
std::unique_ptr<Gpu> runGrid(const std::string &ptx, uint32_t blocks, uint32_t threads,
                             const std::string &checks = "all") {
  auto gpu = std::make_unique<Gpu>(ptx, "sm_80", checks);
  gpu->run("k", {blocks}, {threads}, 0, gpu->upload(std::vector<uint32_t>(4096, 7)));
  return gpu;
}

void expectGridTwin(const std::string &good, const std::string &broken, uint32_t blocks,
                    uint32_t threads, FindingKind kind, const std::string &where) {
  runGrid(good, blocks, threads)->expectClean();
  runGrid(broken, blocks, threads)->expectFinding(kind, lineOf(broken, where));
}

const std::string kFlag = ".visible .global .align 4 .u32 flag;\n"
                          ".visible .global .align 4 .u32 arrived;";

TEST(GlobalRace, BlocksThatWriteOneWord) {
  std::string good = kernel(R"(  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %r1, 32, %t;
  mad.wide.u32 %rd1, %r2, 4, %p;
  st.global.u32 [%rd1], %r1;
)");
  std::string broken = replaced(good, "%r1, 32, %t", "%r1, 31, %t");
  expectGridTwin(good, broken, 4, 32, FindingKind::Race, "st.global");
  auto gpu = runGrid(broken, 4, 32);
  ASSERT_FALSE(gpu->findings.empty());
  // The last lane of a block and the first of the next meet; which comes second depends on the order of the blocks.
  const Finding &finding = gpu->findings[0];
  EXPECT_EQ(finding.space, Space::Global);
  bool isLast = finding.lane == 31;
  EXPECT_EQ(finding.lane, isLast ? 31u : 0u);
  uint64_t neighbour = isLast ? finding.ctaIndex + 1 : finding.ctaIndex - 1;
  std::string other =
      "block (" + std::to_string(neighbour) + ",0,0), warp 0, lane " + (isLast ? "0," : "31,");
  EXPECT_NE(finding.otherText().find(other), std::string::npos) << finding.text();
}

TEST(GlobalRace, EqualValuesAreNoRace) {
  std::string good = kernel("  mov.u32 %r1, 5;\n  st.global.u32 [%a], %r1;\n");
  runGrid(good, 4, 64)->expectClean();
  runGrid(replaced(good, "%r1, 5", "%r1, %ctaid.x"), 4, 64)
      ->expectFinding(FindingKind::Race, lineOf(good, "st.global"));
}

// Each block reads a word before any block has written to that page; another block writes it later.
TEST(GlobalRace, ReadsBeforeTheFirstWriteOfAPageCount) {
  std::string good = kernel(R"(  mov.u32 %r1, %ctaid.x;
  ld.global.u32 %r2, [%a];
  setp.ne.u32 %q1, %r1, 3;
  @%q1 bra DONE;
  st.global.u32 [%a+2048], %r2;
DONE:
)");
  expectGridTwin(good, replaced(good, "[%a+2048], %r2", "[%a], %t"), 4, 32, FindingKind::Race,
                 "st.global");
}

TEST(GlobalRace, WarpsOfABlockNeedABarrier) {
  std::string good = kernel(R"(  st.global.u32 [%a], %t;
  bar.sync 0;
  xor.b32 %r3, %t, 32;
  mad.wide.u32 %rd1, %r3, 4, %p;
  ld.global.u32 %r5, [%rd1];
  st.shared.u32 [buffer], %r5;
)");
  good = without(good, "  st.shared.u32 [buffer], %r5;\n");
  expectGridTwin(good, without(good, "  bar.sync 0;\n"), 1, 64, FindingKind::Race, "ld.global");
}

TEST(GlobalRace, HalvesOfAWordAreSeparate) {
  std::string good = kernel(R"(  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %t, 2, %r1;
  mad.wide.u32 %rd1, %r2, 2, %p;
  cvt.u16.u32 %h, %t;
  st.global.u16 [%rd1], %h;
)");
  good = replaced(good, ".reg .pred", ".reg .b16 %h;\n  .reg .pred");
  std::string broken = replaced(replaced(good, "cvt.u16.u32 %h, %t", "cvt.u16.u32 %h, %r1"),
                                "%t, 2, %r1", "%t, 2, 0");
  expectGridTwin(good, broken, 2, 32, FindingKind::Race, "st.global");
}

// Block 0 writes and raises a flag; block 1 waits for it and reads.
const std::string kHandover = R"(  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %q1, %r1, 0;
  @%q1 bra CONSUMER;
  st.global.u32 [%a], %t;
  membar.gl;
  bar.sync 0;
  mov.u32 %r2, 1;
  setp.eq.u32 %q2, %t, 0;
  @%q2 st.relaxed.gpu.global.u32 [flag], %r2;
  bra DONE;
CONSUMER:
  ld.relaxed.gpu.global.u32 %r3, [flag];
  setp.eq.u32 %q3, %r3, 0;
  @%q3 bra CONSUMER;
  fence.acq_rel.gpu;
  ld.global.u32 %r4, [%a];
DONE:
)";

TEST(GlobalRace, FencesAroundRelaxedFlagsOrder) {
  std::string good = kernel(kHandover, kFlag);
  expectGridTwin(good, without(good, "  fence.acq_rel.gpu;\n"), 2, 32, FindingKind::Race,
                 "ld.global.u32 %r4");
  // The warps' own fences stand before the barrier; one thread speaks for all after it.
  runGrid(good, 2, 64)->expectClean();
  expectGridTwin(good, without(good, "  membar.gl;\n"), 2, 64, FindingKind::Race,
                 "ld.global.u32 %r4");
}

TEST(GlobalRace, ReleaseAndAcquireOrder) {
  std::string good =
      without(without(kernel(kHandover, kFlag), "  membar.gl;\n"), "  fence.acq_rel.gpu;\n");
  good = replaced(replaced(good, "st.relaxed", "st.release"), "ld.relaxed", "ld.acquire");
  expectGridTwin(good, replaced(good, "st.release", "st.relaxed"), 2, 64, FindingKind::Race,
                 "ld.global.u32 %r4");
  expectGridTwin(good, replaced(good, "ld.acquire", "ld.relaxed"), 2, 64, FindingKind::Race,
                 "ld.global.u32 %r4");
}

// One thread waits for the flag; the others learn of it at the barrier.
TEST(GlobalRace, ABarrierPassesOnWhatOneThreadHasAcquired) {
  std::string good = kernel(R"(  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %q1, %r1, 0;
  @%q1 bra CONSUMER;
  st.global.u32 [%a], %t;
  bar.sync 0;
  mov.u32 %r2, 1;
  setp.eq.u32 %q2, %t, 0;
  @%q2 st.release.gpu.global.u32 [flag], %r2;
  bra DONE;
CONSUMER:
  setp.ne.u32 %q2, %t, 0;
  @%q2 bra MEET;
WAIT:
  ld.acquire.gpu.global.u32 %r3, [flag];
  setp.eq.u32 %q3, %r3, 0;
  @%q3 bra WAIT;
MEET:
  bar.sync 1;
  ld.global.u32 %r4, [%a];
DONE:
)",
                            kFlag);
  runGrid(good, 2, 64)->expectClean();
  std::string broken = without(good, "  bar.sync 1;\n");
  int write = lineOf(broken, "st.global.u32 [%a]"), read = lineOf(broken, "ld.global.u32 %r4");
  runGrid(broken, 2, 64)->expectFindingIn(FindingKind::Race, {write, read});
}

// Neither the flag itself nor what it hands over.
TEST(GlobalRace, BlockScopeDoesNotReachOtherBlocks) {
  std::string broken =
      replaced(replaced(kernel(kHandover, kFlag), "st.relaxed.gpu", "st.relaxed.cta"),
               "ld.relaxed.gpu", "ld.relaxed.cta");
  int store = lineOf(broken, "st.relaxed.cta"), load = lineOf(broken, "ld.relaxed.cta");
  runGrid(broken, 2, 32)->expectFindingIn(FindingKind::Race, {store, load});
  // Of several faulty blocks the first is reported, so the reader's fault shows if block 0 has raised the flag before
  // block 1 looks at it.
  Gpu inTurn(broken);
  inTurn.device->setSchedule(Schedule::Eager, 0);
  inTurn.run("k", {2}, {32}, 0, inTurn.upload(std::vector<uint32_t>(4096, 7)));
  inTurn.expectFinding(FindingKind::Race, lineOf(broken, "ld.global.u32 %r4"));
}

// Every block adds to a counter; the last one reads what all have written.
TEST(GlobalRace, TheLastBlockHasAcquiredAllOthers) {
  std::string good = kernel(R"(  mov.u32 %r1, %ctaid.x;
  mad.wide.u32 %rd1, %r1, 4, %p;
  st.global.u32 [%rd1], %r1;
  atom.acq_rel.gpu.global.add.u32 %r2, [arrived], 1;
  mov.u32 %r3, %nctaid.x;
  sub.u32 %r3, %r3, 1;
  setp.ne.u32 %q1, %r2, %r3;
  @%q1 bra DONE;
  mov.u32 %r5, 0;
SUM:
  mad.wide.u32 %rd2, %r5, 4, %p;
  ld.global.u32 %r6, [%rd2];
  add.u32 %r5, %r5, 1;
  setp.le.u32 %q2, %r5, %r3;
  @%q2 bra SUM;
DONE:
)",
                            kFlag);
  for (const char *order : {"relaxed", "acquire", "release"})
    expectGridTwin(good, replaced(good, "acq_rel", order), 8, 1, FindingKind::Race,
                   "ld.global.u32 %r6");
}

// The block that waits may be the first to start.
TEST(GlobalRace, WaitingForABlockThatHasNotStarted) {
  std::string good =
      replaced(kernel(kHandover, kFlag), "setp.ne.u32 %q1, %r1, 0", "setp.ne.u32 %q1, %r1, 1");
  auto gpu = runGrid(good, 2, 32);
  gpu->expectClean();
  EXPECT_EQ(gpu->findings.size(), 0u);
}

TEST(GlobalRace, BlocksThatWaitForEachOtherForeverAreReported) {
  std::string broken = kernel(R"(WAIT:
  ld.volatile.global.u32 %r3, [flag];
  setp.eq.u32 %q1, %r3, 0;
  @%q1 bra WAIT;
)",
                              kFlag);
  auto gpu = runGrid(broken, 3, 32);
  ASSERT_EQ(gpu->findings.size(), 1u);
  EXPECT_EQ(gpu->findings[0].kind, FindingKind::Deadlock);
  EXPECT_NE(gpu->findings[0].message.find("loops at"), std::string::npos)
      << gpu->findings[0].text();
}

} // namespace
} // namespace tile::vgpu
