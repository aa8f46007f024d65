// barrier without .aligned: each thread arrives and waits on its own, wherever the other lanes of its warp are.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

// `body` has %t, %l (lane), %a (its word of the buffer), %q1 (lane below 16), and a word of shared memory for each thread:
// its own at %mine, that of the lane 16 further on at %other.
std::string kernelOf(const std::string &body) {
  return R"(.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %q<8>;
  .reg .b32 %t, %l, %w, %mine, %other, %r<16>;
  .reg .b64 %a, %b;
  .shared .align 16 .b32 tile[256];
  .shared .align 16 .b32 flag;
  ld.param.u64 %b, [p];
  mov.u32 %t, %tid.x;
  mov.u32 %l, %laneid;
  shr.u32 %w, %t, 5;
  mad.wide.u32 %a, %t, 4, %b;
  mov.u32 %r0, tile;
  mad.lo.u32 %mine, %t, 4, %r0;
  xor.b32 %other, %mine, 64;
  setp.lt.u32 %q1, %l, 16;
)" + body +
         "  ret;\n}\n";
}

std::unique_ptr<Gpu> runFree(const std::string &ptx, uint32_t threads,
                             Schedule schedule = Schedule::Eager,
                             const std::string &checks = "all") {
  auto gpu = std::make_unique<Gpu>(ptx, "sm_80", checks);
  gpu->device->setSchedule(schedule, 3);
  gpu->data = gpu->upload(std::vector<uint32_t>(threads, 0));
  gpu->run("k", {1}, {threads}, 0, gpu->data);
  return gpu;
}

template <class Expected>
void expectResults(const std::string &body, uint32_t threads, Expected expected) {
  for (const char *checks : {"all", "none"})
    for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random}) {
      SCOPED_TRACE(std::string(checks) + " " + nameOf(schedule));
      auto gpu = runFree(kernelOf(body), threads, schedule, checks);
      gpu->expectClean();
      auto results = gpu->download<uint32_t>(gpu->data, threads);
      for (uint32_t i = 0; i < threads; ++i)
        ASSERT_EQ(results[i], expected(i)) << i;
    }
}

const std::string kBranches = R"(  @%q1 bra LOW;
  st.shared.u32 [%mine], %t;
  barrier.sync 1, 64;
  bra READ;
LOW:
  st.shared.u32 [%mine], %t;
  barrier.sync 1, 64;
READ:
  ld.shared.u32 %r1, [%other];
  st.global.u32 [%a], %r1;
)";

TEST(FreeBarrier, LanesInDifferentBranchesMeet) {
  expectResults(kBranches, 64, [](uint32_t i) { return i ^ 16; });
}

TEST(FreeBarrier, WhatItDoesNotOrderIsARace) {
  for (const char *line :
       {"  barrier.sync 1, 64;\n  bra READ;\n", "  barrier.sync 1, 64;\nREAD:\n"}) {
    std::string rest = std::string(line).substr(std::string(line).find('\n') + 1);
    std::string broken = kernelOf(replaced(replaced(kBranches, line, rest), "1, 64", "1, 32"));
    auto gpu = runFree(broken, 64);
    ASSERT_FALSE(gpu->findings.empty());
    EXPECT_TRUE(gpu->findings[0].kind == FindingKind::Race ||
                gpu->findings[0].kind == FindingKind::WarpRace)
        << gpu->findings[0].text();
  }
}

TEST(FreeBarrier, HalfAWarpArrivesForTheOther) {
  const std::string body = R"(  @%q1 bra PRODUCE;
  barrier.sync 1, 32;
  ld.shared.u32 %r1, [%other];
  st.global.u32 [%a], %r1;
  bra DONE;
PRODUCE:
  st.shared.u32 [%mine], %t;
  barrier.arrive 1, 32;
DONE:
)";
  expectResults(body, 32, [](uint32_t i) { return i < 16 ? 0 : i - 16; });
}

TEST(FreeBarrier, GuardsLeaveTheOtherLanes) {
  const std::string body = R"(  st.shared.u32 [%mine], %t;
  @%q1 barrier.sync 1, 32;
  @!%q1 barrier.sync 1, 32;
  ld.shared.u32 %r1, [%other];
  st.global.u32 [%a], %r1;
)";
  expectResults(body, 32, [](uint32_t i) { return i ^ 16; });
}

TEST(FreeBarrier, VotesInDifferentBranchesCount) {
  const std::string body = R"(  setp.lt.u32 %q2, %l, 20;
  setp.lt.u32 %q4, %l, 32;
  @%q1 bra LOW;
  barrier.red.popc.u32 %r1, 1, 64, %q2;
  barrier.red.and.pred %q3, 2, 64, %q4;
  bra WRITE;
LOW:
  barrier.red.popc.u32 %r1, 1, 64, %q2;
  barrier.red.and.pred %q3, 2, 64, %q4;
WRITE:
  @%q3 add.u32 %r1, %r1, 100;
  st.global.u32 [%a], %r1;
)";
  expectResults(body, 64, [](uint32_t) { return 140; });
}

TEST(FreeBarrier, LanesNameTheirOwnBarriers) {
  const std::string body = R"(  st.shared.u32 [%mine], %t;
  selp.u32 %r2, 1, 2, %q1;
  barrier.sync %r2, 32;
  xor.b32 %other, %mine, 128;
  ld.shared.u32 %r1, [%other];
  st.global.u32 [%a], %r1;
)";
  expectResults(body, 64, [](uint32_t i) { return i ^ 32; });
}

// They arrive when they come there, not when the rest of their warp has nothing else to do.
TEST(FreeBarrier, ArrivalsDoNotWaitForTheRestOfTheWarp) {
  const std::string body = R"(  setp.ne.u32 %q2, %w, 0;
  @%q2 bra SECOND;
  st.volatile.shared.u32 [flag], 0;
  bar.warp.sync 0xffffffff;
  @%q1 bra LOW;
SPIN:
  ld.volatile.shared.u32 %r1, [flag];
  setp.eq.u32 %q3, %r1, 0;
  @%q3 bra SPIN;
  bra DONE;
LOW:
  mov.u32 %r1, 7;
  barrier.sync 1, 64;
  bra DONE;
SECOND:
  mov.u32 %r1, 7;
  barrier.arrive 1, 64;
  @!%q1 bra DONE;
  barrier.sync 1, 64;
  st.volatile.shared.u32 [flag], 7;
DONE:
  st.global.u32 [%a], %r1;
)";
  expectResults(body, 64, [](uint32_t) { return 7; });
}

TEST(FreeBarrier, TheWholeBlockIsThoseThatHaveNotExited) {
  const std::string body = R"(  @!%q1 bra HIGH;
  st.shared.u32 [%mine], %t;
  barrier.sync 0;
  xor.b32 %other, %mine, 128;
  ld.shared.u32 %r1, [%other];
  st.global.u32 [%a], %r1;
HIGH:
)";
  expectResults(body, 64, [](uint32_t i) { return i % 32 < 16 ? i ^ 32 : 0; });
}

TEST(FreeBarrier, BarriersThatNobodyCompletesAreADeadlock) {
  std::string ptx = kernelOf(replaced(kBranches, "1, 64;\nREAD", "2, 64;\nREAD"));
  auto gpu = runFree(ptx, 64);
  ASSERT_EQ(gpu->findings.size(), 1u);
  EXPECT_EQ(gpu->findings[0].kind, FindingKind::Deadlock);
  EXPECT_NE(gpu->findings[0].message.find("(32 of 64 threads have arrived)"), std::string::npos)
      << gpu->findings[0].message;
}

} // namespace
} // namespace tile::vgpu
