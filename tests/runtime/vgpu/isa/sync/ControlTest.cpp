// Instructions that change nothing but what is counted.
#include "tests/runtime/vgpu/Kernels.h"

namespace tile::vgpu {
namespace {

TEST(Control, MonitorEventsAreIssuedAndChangeNothing) {
  Gpu gpu(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .pred %p;
  .reg .b32 %t;
  .reg .b64 %x;
  ld.param.u64 %x, [x];
  mov.u32 %t, %tid.x;
  setp.lt.u32 %p, %t, 5;
  pmevent 7;
  @%p pmevent.mask 0x8001;
  mad.wide.u32 %x, %t, 4, %x;
  st.global.u32 [%x], %t;
  ret;
}
)",
          "sm_80");
  auto memory = gpu.upload(std::vector<uint32_t>(64));
  gpu.device->setCounters(true);
  gpu.run("k", {1}, {64}, 0, memory);
  gpu.expectClean();
  auto values = gpu.download<uint32_t>(memory, 64);
  for (uint32_t thread = 0; thread < 64; ++thread)
    EXPECT_EQ(values[thread], thread);
  uint64_t lanes = 0;
  for (const LineCounters &line : gpu.device->countersByLine())
    if (line.kind == InstructionClass::Other) {
      EXPECT_EQ(line.counters.warpInstructions, 2u) << line.ptxLine;
      lanes += line.counters.executedLanes;
    }
  EXPECT_EQ(lanes, 64u + 5);
}

} // namespace
} // namespace tile::vgpu
