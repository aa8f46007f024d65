// A block starts as if it were the only one, although the host thread that runs it has run another
// in the same memory.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

void expectCleanBlocks(const std::string &ptx, uint32_t blocks) {
  Gpu gpu(ptx, "sm_80", "all", 1);
  gpu.run("k", {blocks}, {32}, 0, gpu.upload(std::vector<uint32_t>(1024)));
  gpu.expectClean();
}

// Sixteen lanes exit while the others wait, which ends the wait: also in the second block, where as
// many lanes exit again.
TEST(NextBlock, ExitsOfTheBlockBeforeDoNotCount) {
  std::string ptx = kernel(R"(  setp.lt.u32 %q1, %l, 16;
  @%q1 bra DONE;
  bar.warp.sync -1;
DONE:
)");
  expectCleanBlocks(ptx, 1);
  expectCleanBlocks(ptx, 3);
}

// What the first block has stored to its shared memory is not initialised in the second.
TEST(NextBlock, SharedMemoryIsUninitialisedAgain) {
  std::string ptx = kernel(R"(  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %q1, %r1, 0;
  mov.u32 %r2, buffer;
  mad.lo.u32 %r2, %l, 4, %r2;
  @%q1 st.shared.u32 [%r2], %l;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%a], %r3;
)");
  expectCleanBlocks(ptx, 1);
  Gpu gpu(ptx, "sm_80", "init", 1);
  gpu.run("k", {2}, {32}, 0, gpu.upload(std::vector<uint32_t>(1024)));
  gpu.expectFinding(FindingKind::Uninitialised, lineOf(ptx, "st.global"));
}

} // namespace
} // namespace tile::vgpu
