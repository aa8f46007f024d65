// Blocks that wait for a flag in global memory by one thread, which looks and tells the others by shared memory and a barrier: that
// changes memory of the block in each round, and yet nothing happens.
#include "tests/runtime/vgpu/Kernels.h"

namespace tile::vgpu {
namespace {

// Block 0 does `first`, all others wait until `look` gives something other than 0.
std::string spinKernel(const std::string &look, const std::string &first) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 flag)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b32 seen;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  setp.eq.u32 %p2, %r2, 0;
  @!%p2 bra SPIN;
)" + first +
         R"(  ret;
SPIN:
  @%p1 bra TOLD;
  )" + look +
         R"(
  st.shared.u32 [seen], %r3;
TOLD:
  bar.sync 0;
  ld.shared.u32 %r4, [seen];
  bar.sync 0;
  setp.eq.u32 %p3, %r4, 0;
  @%p3 bra SPIN;
  ret;
}
)";
}

const char *const kLooks[] = {"atom.acquire.gpu.global.add.u32 %r3, [%rd1], 0;",
                              "atom.global.or.b32 %r3, [%rd1], 0;",
                              "atom.acquire.gpu.global.cas.b32 %r3, [%rd1], 0, 0;",
                              "atom.global.max.s32 %r3, [%rd1], 0;",
                              "ld.acquire.gpu.global.u32 %r3, [%rd1];",
                              "ld.volatile.global.u32 %r3, [%rd1];"};

// Long enough that the others have been found to wait meanwhile.
constexpr const char *kSets = R"(  mov.u32 %r5, 0;
COUNT:
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p3, %r5, 30000;
  @%p3 bra COUNT;
  @%p1 ret;
  atom.release.gpu.global.exch.b32 %r3, [%rd1], 1;
)";

void expectOnly(const Gpu &gpu, FindingKind kind, int line) {
  gpu.expectFinding(kind, line);
  for (const Finding &finding : gpu.findings)
    EXPECT_EQ(finding.kind, kind) << finding.text();
}

class Spin : public ::testing::TestWithParam<Schedule> {
protected:
  void run(Gpu &gpu, uint32_t blocks) {
    gpu.device->setSchedule(GetParam(), 5);
    auto flag = gpu.upload(std::vector<uint32_t>{0});
    gpu.run("k", {blocks}, {96}, 0, flag);
  }
};

TEST_P(Spin, ForAFlagThatNobodySetsIsADeadlock) {
  for (std::string look : kLooks)
    for (uint32_t blocks : {2, 5}) {
      SCOPED_TRACE(look);
      Gpu gpu(spinKernel(look, ""));
      run(gpu, blocks);
      ASSERT_FALSE(gpu.findings.empty());
      for (const Finding &finding : gpu.findings)
        EXPECT_EQ(finding.kind, FindingKind::Deadlock) << finding.text();
    }
}

TEST_P(Spin, EndsWhenTheFlagIsSet) {
  for (std::string look : kLooks) {
    SCOPED_TRACE(look);
    Gpu gpu(spinKernel(look, kSets));
    run(gpu, 5);
    gpu.expectClean();
  }
}

// What the others wait for will never come, but not by their fault.
TEST_P(Spin, ForABlockThatHasAFaultTellsTheFault) {
  for (std::string look : kLooks) {
    SCOPED_TRACE(look);
    const std::string kernel =
        spinKernel(look, "  @%p1 ret;\n  st.global.u32 [%rd1+4096], %r1;\n" + std::string(kSets));
    Gpu gpu(kernel);
    run(gpu, 5);
    expectOnly(gpu, FindingKind::OutOfBounds, lineOf(kernel, "+4096"));
  }
}

// A flag that others change now and then is waited for: of what a block does, nothing else may look at it.
TEST_P(Spin, ByWritesInTurnIsNone) {
  const char *kCounts = "atom.global.add.u32 %r3, [%rd1], 1;\n  setp.lt.u32 %p3, %r3, 20000;\n"
                        "  selp.u32 %r3, 0, 1, %p3;";
  Gpu gpu(spinKernel(kCounts, ""));
  run(gpu, 3);
  gpu.expectClean();
}

INSTANTIATE_TEST_SUITE_P(Schedules, Spin,
                         ::testing::Values(Schedule::Eager, Schedule::Lazy, Schedule::Random),
                         [](const auto &run) { return std::string(nameOf(run.param)); });

} // namespace
} // namespace tile::vgpu
