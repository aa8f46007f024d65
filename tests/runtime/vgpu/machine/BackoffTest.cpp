// Waits that look at a clock and sleep between their tries, as libraries write them: no state of theirs comes back, and yet
// they only wait.
#include "tests/runtime/vgpu/Kernels.h"

namespace tile::vgpu {
namespace {

// Each thread copies a word of the input to shared memory, asynchronously, and a neighbour's from there.
std::string copyKernel(const std::string &wait) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .shared .align 8 .b64 bar;
  .shared .align 16 .b8 data[512];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [bar], 128;
READY:
  bar.sync 0;
  mov.u32 %r2, data;
  mad.lo.u32 %r3, %r1, 4, %r2;
  cp.async.ca.shared.global [%r3], [%rd1], 4;
  cp.async.mbarrier.arrive.shared.b64 [bar];
  mbarrier.arrive.shared.b64 %rd4, [bar];
  mov.u64 %rd5, %globaltimer;
WAIT:
  mbarrier.test_wait.shared.b64 %p2, [bar], %rd4;
  @%p2 bra DONE;
)" + wait +
         R"(  bra WAIT;
DONE:
  xor.b32 %r4, %r1, 64;
  mad.lo.u32 %r3, %r4, 4, %r2;
  ld.shared.u32 %r5, [%r3];
  st.global.u32 [%rd2], %r5;
  ret;
}
)";
}

TEST(Backoff, WaitsByTheClockEndUnderEverySchedule) {
  for (std::string wait :
       {"", "  mov.u64 %rd6, %globaltimer;\n",
        "  mov.u64 %rd6, %clock64;\n  sub.u64 %rd6, %rd6, %rd5;\n  nanosleep.u32 100;\n",
        "  mov.u64 %rd6, %globaltimer;\n  sub.u64 %rd6, %rd6, %rd5;\n"
        "  setp.gt.u64 %p3, %rd6, 4096;\n  @!%p3 bra WAIT;\n  nanosleep.u32 1000;\n"})
    for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random}) {
      Gpu gpu(copyKernel(wait));
      gpu.device->setSchedule(schedule, 3);
      std::vector<uint32_t> words(128), expected(128);
      for (uint32_t i = 0; i < 128; ++i)
        words[i] = 1000 + i, expected[i] = 1000 + (i ^ 64);
      auto in = gpu.upload(words), out = gpu.upload(std::vector<uint32_t>(128));
      gpu.run("k", {1}, {128}, 0, in, out);
      gpu.expectClean();
      EXPECT_EQ(gpu.download<uint32_t>(out, 128), expected) << wait;
    }
}

} // namespace
} // namespace tile::vgpu
