// createpolicy and applypriority change nothing; discard takes values away. And clocks, which only grow.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

TEST(CacheHints, PoliciesOfAllForms) {
  Gpu gpu(kernel(
      "  mov.f32 %f1, 0f3f000000;\n"
      "  createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd1, %f1;\n"
      "  createpolicy.fractional.L2::evict_first.b64 %rd2;\n"
      "  createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd3, [%p], 0x100, 0x200;\n"
      "  createpolicy.cvt.L2.b64 %rd4, %rd1;\n"
      "  applypriority.global.L2::evict_normal [%p], 128;\n"
      "  ld.global.L2::cache_hint.u32 %r1, [%a], %rd3;\n"
      "  add.u32 %r1, %r1, 1;\n  st.global.L2::cache_hint.u32 [%a], %r1, %rd4;\n"));
  auto memory = gpu.upload(std::vector<uint32_t>(32, 4));
  gpu.run("k", {1}, {32}, 0, memory);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<uint32_t>(memory, 32), std::vector<uint32_t>(32, 5));
}

TEST(CacheHints, DiscardedBytesHaveNoValueUntilWritten) {
  std::string good =
      kernel("  setp.eq.u32 %q1, %t, 0;\n  @%q1 discard.global.L2 [%p], 128;\n"
             "  bar.warp.sync -1;\n  st.global.u32 [%a], %t;\n  ld.global.u32 %r1, [%a];\n"
             "  add.u32 %r1, %r1, 1;\n  st.global.u32 [%a], %r1;\n");
  expectTwin(good, without(good, "  st.global.u32 [%a], %t;\n"), 32, FindingKind::Uninitialised,
             "st.global.u32 [%a], %r1");
  std::string misaligned = replaced(good, "[%p], 128", "[%p+64], 128");
  run(misaligned, 32)->expectFinding(FindingKind::Misaligned, lineOf(misaligned, "discard"));
}

TEST(CacheHints, HighWordsOfClocksAreZero) {
  Gpu gpu(
      kernel("  mov.u32 %r1, %clock;\n  mov.u32 %r2, %clock_hi;\n  mov.u32 %r3, %globaltimer_hi;\n"
             "  mov.u32 %r4, %clock;\n  setp.gt.u32 %q1, %r4, %r1;\n  or.b32 %r2, %r2, %r3;\n"
             "  selp.u32 %r2, %r2, 99, %q1;\n  st.global.u32 [%a], %r2;\n"));
  auto memory = gpu.upload(std::vector<uint32_t>(32, 7));
  gpu.run("k", {1}, {32}, 0, memory);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<uint32_t>(memory, 32), std::vector<uint32_t>(32, 0));
}

} // namespace
} // namespace tile::vgpu
