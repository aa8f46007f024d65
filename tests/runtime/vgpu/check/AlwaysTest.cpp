// What is reported whatever is checked: traps, endless loops, and blocks that wait for each other or for nothing.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

struct MaxBranches {
  explicit MaxBranches(const char *count) { setenv("TILE_VGPU_MAX_BRANCHES", count, 1); }
  ~MaxBranches() { unsetenv("TILE_VGPU_MAX_BRANCHES"); }
};

TEST(Always, TrapAndEndlessLoop) {
  std::string good = kernel("  setp.lt.u32 %q1, %t, 32;\n  @%q1 bra L;\n  trap;\nL:\n");
  expectTwin(good, replaced(good, "%t, 32", "%t, 31"), 32, FindingKind::Trap, "trap;");
  std::string loop = kernel("L:\n  bra L;\n");
  run(loop, 32)->expectFinding(FindingKind::Deadlock, lineOf(loop, "bra L;"));
  // A loop that changes its registers may get on, so it has a limit.
  MaxBranches limit("1000000");
  std::string counting = kernel("L:\n  add.u32 %r1, %r1, 1;\n  bra L;\n");
  int first = lineOf(counting, "add.u32");
  run(counting, 32)->expectFindingIn(FindingKind::StepLimit, {first, first + 1});
}

// A warp that gives way has not used its turn, but the branches count: of a wait that times out (under the lazy schedule
// each first try does) in a loop that does not ask for its result, and of warps that wake each other for ever.
TEST(Always, EndlessLoopsOfWaitsHaveALimit) {
  MaxBranches limit("10000");
  std::string barriers = R"(  .shared .align 8 .b64 ball[2];
  setp.ne.u32 %q1, %t, 0;
  @%q1 bra READY;
  mbarrier.init.shared.b64 [ball], 1;
  mbarrier.init.shared.b64 [ball+8], 1;
READY:
  bar.sync 0;
)";
  std::string complete = kernel(barriers + R"(  mov.u32 %r1, 1;
  mov.u32 %r2, 0;
L:
  add.u32 %r2, %r2, 1;
  mbarrier.try_wait.parity.shared.b64 %q2, [ball], %r1;
  bra L;
)");
  std::string players = kernel(barriers + R"(  shr.u32 %r1, %t, 5;
  shl.b32 %r2, %r1, 3;
  mov.u32 %r3, ball;
  add.u32 %r4, %r3, %r2; // mine
  sub.u32 %r5, 8, %r2;
  add.u32 %r5, %r3, %r5; // the other's
  mov.u32 %r6, 0;
  and.b32 %r7, %t, 31;
  setp.ne.u32 %q3, %r7, 0;
  @%q3 bra DONE;
  setp.ne.u32 %q4, %r1, 0;
  @%q4 bra RETURN;
SERVE:
  mbarrier.arrive.shared.b64 _, [%r5];
RETURN:
  mbarrier.try_wait.parity.shared.b64 %q2, [%r4], %r6;
  @!%q2 bra RETURN;
  xor.b32 %r6, %r6, 1;
  bra SERVE;
DONE:
)");
  for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random})
    for (const std::string &endless : {complete, players}) {
      SCOPED_TRACE(std::string(nameOf(schedule)) + "\n" + endless);
      Gpu gpu(replaced(endless, "7.8\n.target sm_80", "8.0\n.target sm_90a"), "sm_90a");
      gpu.device->setSchedule(schedule, 1);
      gpu.run("k", {1}, {64}, 0, gpu.upload(std::vector<uint32_t>(64)));
      EXPECT_TRUE(!gpu.findings.empty() && gpu.findings.back().kind == FindingKind::StepLimit)
          << (gpu.findings.empty() ? "clean" : gpu.findings.back().message);
    }
}

// Lanes that spin come back to the same state many times before the lane that holds the lock gets on.
TEST(Always, SpinLockBetweenLanesOfAWarpMakesProgress) {
  std::string good = kernel(R"(  atom.global.exch.b32 %r9, [lock], 0;
AGAIN:
  atom.global.cas.b32 %r1, [lock], 0, 1;
  setp.ne.u32 %q1, %r1, 0;
  @%q1 bra AGAIN;
  membar.gl;
  ld.global.u32 %r2, [%p];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%p], %r2;
  membar.gl;
  atom.global.exch.b32 %r3, [lock], 0;
)",
                            ".visible .global .align 4 .u32 lock;");
  constexpr uint32_t kSpinning = 8;
  std::string held = without(good, "  atom.global.exch.b32 %r3, [lock], 0;\n");
  for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random})
    for (uint64_t seed = 0; seed < 2; ++seed) {
      SCOPED_TRACE(std::string(nameOf(schedule)) + " " + std::to_string(seed));
      auto launch = [&](Gpu &gpu) {
        gpu.device->setSchedule(schedule, seed);
        device::DevicePtr counter = gpu.upload(std::vector<uint32_t>(1));
        gpu.run("k", {1}, {kSpinning}, 0, counter);
        return gpu.download<uint32_t>(counter, 1)[0];
      };
      Gpu gpu(good), stuck(held);
      EXPECT_EQ(launch(gpu), kSpinning);
      gpu.expectClean();
      EXPECT_EQ(launch(stuck), 1u);
      EXPECT_FALSE(stuck.findings.empty());
      for (const Finding &finding : stuck.findings)
        EXPECT_EQ(finding.kind, FindingKind::Deadlock) << finding.text();
    }
}

// The first thread of each block counts it and waits for the others.
const std::string kGridBarrier = kernel(R"(  setp.ne.u32 %q2, %t, 0;
  @%q2 exit;
  mov.u32 %r1, %nctaid.x;
  atom.global.add.u32 %r2, [count], 1;
WAIT:
  ld.volatile.global.u32 %r3, [count];
  setp.lt.u32 %q1, %r3, %r1;
  @%q1 bra WAIT;
  st.global.u32 [%p], %r3;
)",
                                        ".visible .global .align 4 .u32 count;");

TEST(Always, BlocksMayWaitForEachOther) {
  for (int threads : {1, 2}) {
    Gpu gpu(kGridBarrier, "sm_80", "all", threads);
    auto out = gpu.device->alloc(4);
    gpu.run("k", {100}, {1}, 0, out);
    gpu.expectClean();
    EXPECT_EQ(gpu.download<uint32_t>(out, 1)[0], 100u);
  }
}

// As many as a GPU of that name holds at a time: 108 multiprocessors with 2 blocks of 1024 threads, 164 KB of shared memory.
TEST(Always, AsManyBlocksWaitForEachOtherAsTheGpuHolds) {
  for (auto [blocks, threads, shared] :
       {std::tuple(108u * 2, 1024u, 0u), std::tuple(108u * 3, 32u, 50000u - 4096)}) {
    auto launch = [&](uint32_t count) {
      auto gpu = std::make_unique<Gpu>(kGridBarrier, "sm_80", "none");
      gpu->run("k", {count}, {threads}, shared, gpu->device->alloc(4));
      return gpu;
    };
    launch(blocks)->expectClean();
    auto gpu = launch(blocks + 5);
    ASSERT_EQ(gpu->findings.size(), 1u);
    EXPECT_EQ(gpu->findings[0].kind, FindingKind::Deadlock);
    EXPECT_NE(gpu->findings[0].message.find("; 5 blocks have not started, since sm_80 holds at "
                                            "most " +
                                            std::to_string(blocks) + " of this launch"),
              std::string::npos)
        << gpu->findings[0].text();
  }
}

} // namespace
} // namespace tile::vgpu
