// Uninitialised data: what is reported, and what is not although registers hold bits nobody wrote.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

TEST(InitCheck, UnwrittenGlobalMemoryThatReachesAStore) {
  std::string ptx =
      kernel("  ld.global.u32 %r1, [%a];\n  add.u32 %r1, %r1, 1;\n  st.global.u32 [%a], %r1;\n");
  run(ptx, 32)->expectClean();
  Gpu gpu(ptx);
  gpu.run("k", {1}, {32}, 0, gpu.device->alloc(128));
  gpu.expectFinding(FindingKind::Uninitialised, lineOf(ptx, "st.global"));
  std::string said = gpu.findings.at(0).message;
  for (std::string part :
       {"ld.global.u32 in line " + std::to_string(lineOf(ptx, "ld.global")),
        std::string("loaded such from offset"), std::string("upload or fill it first")})
    EXPECT_NE(said.find(part), std::string::npos) << part << " is not in: " << said;
}

TEST(InitCheck, UnwrittenSharedMemory) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r1, %t, 4, %r1;
  st.shared.u32 [%r1], %t;
  ld.shared.u32 %r2, [%r1];
  st.global.u32 [%a], %r2;
)");
  expectTwin(good, without(good, "  st.shared.u32 [%r1], %t;\n"), 32, FindingKind::Uninitialised,
             "st.global");
}

TEST(InitCheck, UnwrittenRegisterInCondition) {
  std::string good = kernel("  mov.u32 %r1, 3;\n  setp.eq.u32 %q1, %r1, 3;\n  @%q1 bra L;\nL:\n");
  expectTwin(good, without(good, "  mov.u32 %r1, 3;\n"), 32, FindingKind::Uninitialised,
             "@%q1 bra");
}

TEST(InitCheck, UnwrittenRegisterInConditionsOfExits) {
  for (std::string leave : {"exit", "ret"}) {
    std::string good =
        kernel("  mov.u32 %r1, 3;\n  setp.eq.u32 %q1, %r1, 3;\n  @%q1 " + leave + ";\n");
    expectTwin(good, without(good, "  mov.u32 %r1, 3;\n"), 32, FindingKind::Uninitialised,
               "@%q1 " + leave);
  }
}

TEST(InitCheck, UnwrittenRegisterInAddress) {
  std::string good =
      kernel("  mov.u64 %rd1, 8;\n  add.s64 %rd2, %p, %rd1;\n  ld.global.u32 %r1, [%rd2];\n");
  expectTwin(good, without(good, "  mov.u64 %rd1, 8;\n"), 1, FindingKind::Uninitialised,
             "ld.global");
}

// Each thread's variables are aligned, whatever their size.
TEST(InitCheck, WideLocalVariablesBesideNarrowOnes) {
  run(kernel(
          "  .local .align 8 .b8 wide[8];\n  .local .align 4 .b8 narrow[4];\n"
          "  cvt.u64.u32 %rd1, %t;\n  st.local.u64 [wide], %rd1;\n  st.local.u32 [narrow], %t;\n"
          "  ld.local.u64 %rd2, [wide];\n  cvt.u32.u64 %r1, %rd2;\n  st.global.u32 [%a], %r1;\n"),
      64)
      ->expectClean();
}

TEST(InitCheck, PermutedBytesOfOneSourceNeedOnlyThat) {
  std::string good = kernel("  prmt.b32 %r1, %t, %r2, 0x1110;\n  st.global.u32 [%a], %r1;\n");
  expectTwin(good, replaced(good, "0x1110", "0x1510"), 32, FindingKind::Uninitialised, "st.global");
  std::string second = kernel("  prmt.b32 %r1, %r2, %t, 0x5554;\n  st.global.u32 [%a], %r1;\n");
  run(second, 32)->expectClean();
}

TEST(InitCheck, UnselectedAndUnusedValuesMayBeAnything) {
  run(kernel(R"(  setp.ge.u32 %q1, %t, 0;
  selp.u32 %r2, %t, %r1, %q1;
  st.global.u32 [%a], %r2;
  add.u32 %r3, %r4, %r5;
)"),
      32)
      ->expectClean();
}

TEST(InitCheck, PackedHalvesAreFollowedOneByOne) {
  std::string good = kernel(R"(  .reg .b16 %h<4>;
  cvt.u16.u32 %h1, %t;
  mov.b32 %r1, {%h1, %h2};
  mov.b32 {%h3, _}, %r1;
  cvt.u32.u16 %r2, %h3;
  st.global.u32 [%a], %r2;
)");
  std::string bad = good;
  bad.replace(bad.find("{%h3, _}"), 8, "{_, %h3}");
  expectTwin(good, bad, 32, FindingKind::Uninitialised, "st.global");
}

TEST(InitCheck, PermutedBytesAreFollowedOneByOne) {
  std::string good = kernel("  prmt.b32 %r2, %t, %r1, 0x3120;\n  prmt.b32 %r3, %t, %r4, 0x5410;\n"
                            "  prmt.b32 %r5, %r3, %r2, 0x7610;\n  st.global.u32 [%a], %r5;\n");
  std::string bad = good;
  bad.replace(bad.find("0x7610"), 6, "0x7620");
  expectTwin(good, bad, 32, FindingKind::Uninitialised, "st.global");
}

/// Code that leaves in %r1 a value of which one part comes from %u, a register never written, and in %r2 a part of it.
struct PartCase {
  const char *name, *body;
  const char *good, *bad; // replaced in the body, where "PART" stands: which part goes on
};

class PartialInit : public testing::TestWithParam<PartCase> {};

TEST_P(PartialInit, OnlyTheUnwrittenPartIsReported) {
  auto withPart = [&](const char *part) {
    return kernel("  .reg .b16 %h<8>;\n  .reg .b32 %u, %v;\n  .reg .b64 %du;\n" +
                  replaced(GetParam().body, "PART", part) + "  st.global.u32 [%a], %r2;\n");
  };
  run(withPart(GetParam().good), 32)->expectClean();
  std::string bad = withPart(GetParam().bad);
  run(bad, 32)->expectFinding(FindingKind::Uninitialised, lineOf(bad, "st.global.u32 [%a], %r2"));
}

const PartCase kPartCases[] = {
    {"Bfi", "  bfi.b32 %r1, %t, %u, 8, 8;\n  bfe.u32 %r2, %r1, PART, 8;\n", "8", "9"},
    {"BfeSign", "  bfi.b32 %r1, %t, %u, 8, 8;\n  bfe.s32 %r2, %r1, 8, PART;\n", "8", "9"},
    {"AndZeros", "  bfi.b32 %r1, %t, %u, 4, 9;\n  and.b32 %r2, %r1, PART;\n", "0x1ff0", "0x3ff0"},
    {"OrOnes", "  bfi.b32 %r1, %t, %u, 0, 16;\n  or.b32 %r2, %r1, PART;\n", "0xffff0000",
     "0xfffe0000"},
    {"XorNot",
     "  bfi.b32 %r1, %t, %u, 0, 8;\n  not.b32 %r3, %r1;\n  xor.b32 %r4, %r3, %t;\n"
     "  and.b32 %r2, %r4, PART;\n",
     "255", "256"},
    {"ShiftLeft", "  bfi.b32 %r1, %t, %u, 0, 8;\n  shl.b32 %r2, %r1, PART;\n", "24", "23"},
    {"ShiftRight", "  bfi.b32 %r1, %t, %u, 24, 8;\n  shr.u32 %r2, %r1, PART;\n", "24", "23"},
    {"ShiftOfSign",
     "  bfi.b32 %r1, %t, 0, 31, 1;\n  bfi.b32 %r3, %u, %r1, 0, 31;\n"
     "  shr.s32 %r2, %r3, PART;\n",
     "31", "30"},
    {"Funnel", "  shf.l.wrap.b32 %r2, %u, %t, PART;\n", "0", "1"},
    {"Permute", "  prmt.b32 %r2, %t, %u, PART;\n", "0x3120", "0x3124"},
    {"PermuteByRegister", "  mov.b32 %r3, PART;\n  prmt.b32 %r2, %t, %u, %r3;\n", "0x3120",
     "0x7120"},
    {"PermuteSign", "  bfi.b32 %r1, %t, %u, 7, 1;\n  prmt.b32 %r2, %r1, %t, PART;\n", "0x8888",
     "0x0888"},
    {"Truncate",
     "  bfi.b32 %r1, %t, %u, 0, 8;\n  cvt.PART.u32 %h1, %r1;\n  cvt.u32.u16 %r2, %h1;\n", "u8",
     "u16"},
    {"ThroughCopy",
     "  bfi.b32 %r1, %t, %u, 0, 8;\n  mov.b32 %r3, %r1;\n  and.b32 %r2, %r3, PART;\n", "255",
     "511"},
    {"ThroughSelect",
     "  bfi.b32 %r1, %t, %u, 0, 8;\n  setp.lt.u32 %q1, %t, 99;\n  selp.b32 %r3, %r1, %u, %q1;\n"
     "  and.b32 %r2, %r3, PART;\n",
     "255", "511"},
    {"ThroughShuffle",
     "  bfi.b32 %r1, %t, %u, 0, 8;\n  shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1;\n"
     "  and.b32 %r2, %r3, PART;\n",
     "255", "511"},
    {"ThroughWideRegister",
     "  mov.b64 %du, {%t, %u};\n  shr.u64 %rd1, %du, PART;\n  cvt.u32.u64 %r2, %rd1;\n", "0", "1"},
    {"ThroughSharedBytes",
     "  bfi.b32 %r1, %t, %u, 8, 8;\n  mov.u32 %r3, buffer;\n  mad.lo.u32 %r3, %t, 4, %r3;\n"
     "  st.shared.b32 [%r3], %r1;\n  ld.shared.u8 %r2, [%r3+PART];\n",
     "1", "2"},
    {"HalvesApart",
     "  cvt.rn.f16x2.f32 %r1, %f1, 0f3f800000;\n  add.rn.f16x2 %r3, %r1, %r1;\n"
     "  prmt.b32 %r2, %r3, 0, PART;\n",
     "0x4410", "0x4432"},
    {"ThroughMatrix",
     "  bfi.b32 %r1, %t, %u, 0, 16;\n  mov.u32 %r3, buffer;\n  mad.lo.u32 %r4, %t, 4, %r3;\n"
     "  st.shared.b32 [%r4], %r1;\n  bar.warp.sync -1;\n  mad.lo.u32 %r4, %l, 16, %r3;\n"
     "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];\n  and.b32 %r2, %r5, PART;\n",
     "0xffff", "0x1ffff"},
};

INSTANTIATE_TEST_SUITE_P(Parts, PartialInit, testing::ValuesIn(kPartCases),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(InitCheck, OnlyTheBytesStoredMatter) {
  std::string good = kernel("  bfi.b32 %r1, %t, %r2, 0, 8;\n  st.global.u8 [%a], %r1;\n");
  expectTwin(good, replaced(good, "st.global.u8", "st.global.u16"), 32, FindingKind::Uninitialised,
             "st.global.u16");
}

TEST(InitCheck, APredicateThatDoesNotMatterMayBeAnything) {
  std::string good = kernel(R"(  setp.ne.u32 %q1, %t, %t;
  setp.eq.u32 %q2, %r1, 3;
  and.pred %q3, %q1, %q2;
  @%q3 bra L;
L:
)");
  expectTwin(good, replaced(good, "and.pred", "or.pred"), 32, FindingKind::Uninitialised,
             "@%q3 bra");
}

} // namespace
} // namespace tile::vgpu
