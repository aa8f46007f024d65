// What is remembered of a word that many read and of a chunk of which parts are touched.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

// Warps 0 to 3 read at different times, since each has made a different number of fences; warp 4 waits for them, or for the
// last one only, and writes.
TEST(ShadowCell, ReadsAtDifferentTimesAllCount) {
  std::string good = kernel(R"(  mov.u32 %r1, 0;
FENCES:
  setp.ge.u32 %q1, %r1, %w;
  @%q1 bra READ;
  membar.cta;
  add.u32 %r1, %r1, 1;
  bra FENCES;
READ:
  setp.eq.u32 %q2, %w, 4;
  @%q2 bra WRITE;
  ld.shared.u32 %r2, [buffer];
  setp.lt.u32 %q3, %w, 0;
  @%q3 bra DONE;
  bar.arrive 1, 160;
  bra DONE;
WRITE:
  bar.sync 1, 160;
  setp.eq.u32 %q4, %l, 0;
  @%q4 st.shared.u32 [buffer], %t;
DONE:
)");
  std::string broken =
      replaced(replaced(replaced(good, "%w, 0;", "%w, 3;"), "arrive 1, 160", "arrive 1, 64"),
               "sync 1, 160", "sync 1, 64");
  expectTwin(good, broken, 160, FindingKind::Race, "st.shared");
}

// Lanes write words of a chunk; another warp overwrites it as a whole and hands it back; they read it.
TEST(ShadowCell, ChunksAreSplitAndOneAgain) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %l, 4, %r1;
  setp.eq.u32 %q1, %w, 1;
  @%q1 bra WHOLE;
  st.shared.u32 [%r2], %t;
  bar.sync 0;
  bar.sync 1;
  ld.shared.u32 %r3, [%r2];
  bra DONE;
WHOLE:
  bar.sync 0;
  setp.lt.u32 %q2, %l, 8;
  mad.lo.u32 %r2, %l, 16, %r1;
  @%q2 st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};
  bar.sync 1;
DONE:
)");
  expectTwin(good,
             replaced(replaced(good, "  bar.sync 0;\n  bar.sync 1;", "  bar.sync 1;"),
                      "WHOLE:\n  bar.sync 0;", "WHOLE:"),
             64, FindingKind::Race, "st.shared.v4");
  expectTwin(
      good,
      replaced(replaced(good, "  bar.sync 1;\n  ld", "  ld"), "%r1};\n  bar.sync 1;", "%r1};"), 64,
      FindingKind::Race, "ld.shared");
}

// The halves of one chunk belong to eight warps, more accesses than parts remember; another warp reads all of them.
TEST(ShadowCell, HalvesOfAChunkByManyWarps) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %w, 2, %r1;
  cvt.u16.u32 %h1, %t;
  setp.lt.u32 %q1, %w, 8;
  setp.eq.u32 %q2, %l, 0;
  and.pred %q3, %q1, %q2;
  @%q3 st.shared.u16 [%r2], %h1;
  bar.sync 0;
  setp.eq.u32 %q4, %w, 8;
  @%q4 ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [buffer];
)");
  good = replaced(good, "  .reg .f32", "  .reg .b16 %h<2>;\n  .reg .f32");
  expectTwin(good, without(good, "  bar.sync 0;\n"), 288, FindingKind::Race, "ld.shared.v4");
}

// Each lane writes its own half of a chunk, and then one of them its neighbour's.
TEST(ShadowCell, HalvesOfAChunkByTheLanesOfAWarp) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %l, 2, %r1;
  cvt.u16.u32 %h1, %t;
  st.shared.u16 [%r2], %h1;
  bar.warp.sync -1;
  setp.eq.u32 %q1, %l, 5;
  @%q1 st.shared.u16 [buffer+12], %h1;
)");
  good = replaced(good, "  .reg .f32", "  .reg .b16 %h<2>;\n  .reg .f32");
  expectTwin(good, without(good, "  bar.warp.sync -1;\n"), 32, FindingKind::WarpRace,
             "[buffer+12]");
}

// Halves that warps read at different times have lists of readers: a warp that waits for the last one only must not write.
TEST(ShadowCell, HalvesReadAtDifferentTimesAllCount) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %l, 2, %r1;
  cvt.u16.u32 %h1, %t;
  setp.eq.u32 %q1, %w, 0;
  @%q1 st.shared.u16 [%r2], %h1;
  bar.sync 0;
  mov.u32 %r3, 0;
FENCES:
  setp.ge.u32 %q2, %r3, %w;
  @%q2 bra READ;
  membar.cta;
  add.u32 %r3, %r3, 1;
  bra FENCES;
READ:
  setp.eq.u32 %q3, %w, 4;
  @%q3 bra WRITE;
  ld.shared.u16 %h1, [buffer+2];
  setp.lt.u32 %q4, %w, 0;
  @%q4 bra DONE;
  bar.arrive 1, 160;
  bra DONE;
WRITE:
  bar.sync 1, 160;
  setp.eq.u32 %q5, %l, 0;
  @%q5 st.shared.u16 [buffer+2], %h1;
  @%q5 st.shared.u16 [buffer+4], %h1;
DONE:
)");
  good = replaced(good, "  .reg .f32", "  .reg .b16 %h<2>;\n  .reg .f32");
  std::string broken = replaced(
      replaced(replaced(good, "%w, 0;\n  @%q4", "%w, 3;\n  @%q4"), "arrive 1, 160", "arrive 1, 64"),
      "sync 1, 160", "sync 1, 64");
  expectTwin(good, broken, 160, FindingKind::Race, "[buffer+2], %h1;\n  @%q5");
}

// Which lanes get a row of a transposed matrix is not told apart: the finding names all of the instruction.
TEST(ShadowCell, RowsOfSeveralLanesNameThem) {
  std::string ptx = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 16, %r1;
  st.shared.v4.u32 [%r2], {%t, %t, %t, %t};
  bar.warp.sync -1;
  mad.lo.u32 %r3, %l, 16, %r1;
  ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r4, %r5, %r6, %r7}, [%r3];
)");
  std::unique_ptr<Gpu> gpu = run(ptx, 64);
  gpu->expectFinding(FindingKind::Race, lineOf(ptx, "ldmatrix"));
  for (const Finding &finding : gpu->findings) {
    EXPECT_LT(finding.lane, 32u);
    EXPECT_EQ(finding.lanes, 0xffffffffu);
  }
}

} // namespace
} // namespace tile::vgpu
