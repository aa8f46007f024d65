// The check of barriers, divergence and masks on broken kernels and their correct twins.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

TEST(SyncCheck, BarrierInDivergentCode) {
  std::string good = kernel(
      "  setp.lt.u32 %q1, %l, 16;\n  @%q1 bra L;\n  add.u32 %r1, %t, 1;\nL:\n  bar.sync 0;\n");
  std::string broken = replaced(good, "  add.u32 %r1, %t, 1;\n", "  bar.sync 0;\n");
  expectTwin(good, broken, 32, FindingKind::Divergence, "bar.sync 0;\nL:");
}

// Half the warp comes, the other half does something else and exits; that it may exit at once is another matter.
TEST(SyncCheck, LanesThatGoPastWhatOthersWaitFor) {
  for (std::string meeting :
       {"bar.sync 0;", "bar.warp.sync -1;", "vote.sync.ballot.b32 %r2, %q1, -1;",
        "shfl.sync.bfly.b32 %r2, %t, 1, 31, -1;", "redux.sync.add.s32 %r2, %t, -1;"}) {
    std::string good = kernel("  setp.ge.u32 %q1, %l, 16;\n  @%q1 bra L;\n  " + meeting +
                              "\n  st.global.u32 [%a], %t;\nL:\n");
    std::string broken = replaced(good, "L:\n", "L:\n  st.global.u32 [%a+2048], %t;\n");
    expectTwin(good, broken, 32, FindingKind::Divergence, meeting);
  }
  // Rounds of a loop with a barrier, more of them in some lanes than in others.
  std::string loop =
      kernel("  mov.u32 %r1, 0;\nL:\n  bar.sync 0;\n  add.u32 %r1, %r1, 1;\n"
             "  setp.lt.u32 %q1, %r1, 4;\n  @%q1 bra L;\n  st.global.u32 [%a], %r1;\n");
  expectTwin(loop, replaced(loop, "%r1, 4;", "%r1, %l;"), 32, FindingKind::Divergence,
             "bar.sync 0;");
}

// Under a condition of the thread, half the warp waits at each of two barriers: both places are named, in the PTX and in
// the source.
TEST(SyncCheck, LanesAtTwoBarriersAreReportedWithBothPlaces) {
  std::string broken =
      kernel("  setp.lt.u32 %q1, %l, 16;\n  @%q1 bra L;\n  .loc 1 7 1\n  bar.sync 0;\n"
             "L:\n  .loc 1 9 1\n  bar.sync 0;\n") +
      ".file 1 \"halves.cu\"\n";
  int inner = lineOf(broken, "bar.sync 0;\nL:"), outer = inner + 3;
  auto gpu = run(broken, 32);
  ASSERT_EQ(gpu->findings.size(), 1u);
  EXPECT_EQ(gpu->findings[0].kind, FindingKind::Divergence);
  for (const std::string &place :
       {"16 lanes wait at bar.sync in line " + std::to_string(inner) + " (halves.cu:7)",
        "16 lanes wait at bar.sync in line " + std::to_string(outer) + " (halves.cu:9)"})
    EXPECT_NE(gpu->findings[0].message.find(place), std::string::npos)
        << "no '" << place << "' in: " << gpu->findings[0].message;
}

TEST(SyncCheck, GuardedBarrier) {
  std::string good = kernel("  setp.lt.u32 %q1, %t, 64;\n  @%q1 bar.sync 0;\n");
  expectTwin(good, replaced(good, "%t, 64", "%t, 48"), 64, FindingKind::Divergence, "bar.sync");
}

TEST(SyncCheck, DeadlockNamesWaitingWarps) {
  std::string good = kernel("  setp.eq.u32 %q1, %w, 0;\n  @%q1 bra L;\n  bar.sync 1, 64;\n  bra "
                            "E;\nL:\n  bar.sync 1, 64;\nE:\n");
  std::string broken =
      replaced(good, "L:\n  bar.sync 1, 64;", "L:\n  .loc 1 9 1\n  bar.sync 2, 64;") +
      ".file 1 \"warps.cu\"\n";
  run(good, 64)->expectClean();
  auto gpu = run(broken, 64);
  ASSERT_EQ(gpu->findings.size(), 1u);
  EXPECT_EQ(gpu->findings[0].kind, FindingKind::Deadlock);
  for (const std::string &place :
       {"warp 0 waits at bar.sync in line " + std::to_string(lineOf(broken, "bar.sync 2")) +
            " (warps.cu:9)",
        "warp 1 waits at bar.sync in line " + std::to_string(lineOf(broken, "bar.sync 1")) + " "})
    EXPECT_NE(gpu->findings[0].message.find(place), std::string::npos)
        << "no '" << place << "' in: " << gpu->findings[0].message;
  EXPECT_NE(gpu->findings[0].message.find("32 of 64"), std::string::npos);
}

TEST(SyncCheck, ExitedWarpsDoNotBlockTheBlocksBarrier) {
  run(kernel("  setp.eq.u32 %q1, %w, 1;\n  @%q1 exit;\n  bar.sync 0;\n"), 96)->expectClean();
}

TEST(SyncCheck, ShuffleByALaneOutsideItsMask) {
  std::string good =
      kernel("  shfl.sync.idx.b32 %r1, %t, 0, 31, -1;\n  st.global.u32 [%a], %r1;\n");
  expectTwin(good, replaced(good, "31, -1", "31, 65535"), 32, FindingKind::Divergence, "shfl.sync");
}

TEST(SyncCheck, BarrierCountMustBeAMultipleOf32) {
  std::string good = kernel("  bar.sync 1, 32;\n");
  expectTwin(good, replaced(good, "1, 32", "1, 33"), 32, FindingKind::Barrier, "bar.sync");
}

} // namespace
} // namespace tile::vgpu
