// The checks of memory and of races, each on a broken kernel, which must be reported with its kind and line, and on its correct
// twin, which must be clean.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

TEST(MemoryCheck, OutOfBoundsNamesTheAllocation) {
  std::string good = kernel("  ld.global.u32 %r1, [%a];\n  st.global.u32 [%a], %r1;\n");
  run(good, 64, 64)->expectClean();
  auto gpu = run(good, 65, 64);
  gpu->expectFinding(FindingKind::OutOfBounds, lineOf(good, "ld.global"));
  ASSERT_EQ(gpu->findings.size(), 1u);
  const Finding &finding = gpu->findings[0];
  EXPECT_EQ(finding.warp, 2u);
  EXPECT_EQ(finding.lane, 0u);
  EXPECT_NE(finding.message.find("0 bytes past the end of allocation #"), std::string::npos)
      << finding.message;
  EXPECT_TRUE(finding.message.ends_with(
      ", its element 64 of 4 bytes; give the access a mask (tiles of views have one)"))
      << finding.message;
  std::string line = std::to_string(lineOf(good, "ld.global"));
  EXPECT_EQ(finding.text(), "test.ptx:" + line + ": [out of bounds] " + finding.message +
                                "\n  kernel k, block (0,0,0), warp 2, lane 0\n  `" +
                                finding.ptxText + "`; seed 0");
  EXPECT_EQ(finding.ptxText, "ld.global.u32 %r1, [%a];");
}

// By the name that the host has given it, with the offset, also in reports of races.
TEST(MemoryCheck, MemoryIsCalledByItsName) {
  std::string beyond = kernel("  st.global.u32 [%a+256], %t;\n"),
              racy = kernel("  st.global.u32 [%p+8], %t;\n");
  for (const std::string &ptx : {beyond, racy}) {
    Gpu gpu(ptx);
    auto memory = gpu.upload(std::vector<uint32_t>(64));
    gpu.device->nameMemory(memory, "weights");
    gpu.run("k", {1}, {64}, 0, memory);
    bool isRace = ptx == racy;
    ASSERT_FALSE(gpu.findings.empty());
    const Finding &finding = gpu.findings[0];
    EXPECT_EQ(finding.allocation.name, "weights");
    EXPECT_EQ(finding.allocation.offset, isRace ? 8 : 256);
    EXPECT_EQ(finding.allocation.bytes, 256u);
    EXPECT_NE(finding.message.find(isRace ? "(offset 8 of weights (256 bytes at 0x"
                                          : "0 bytes past the end of weights (256 bytes at 0x"),
              std::string::npos)
        << finding.message;
    EXPECT_THROW(gpu.device->nameMemory(memory + 4, "part"), Error);
    gpu.device->free(memory);
    EXPECT_THROW(gpu.device->nameMemory(memory, "gone"), Error);
  }
}

TEST(MemoryCheck, MisalignedVectorAccess) {
  std::string good = kernel(
      "  mad.wide.u32 %rd1, %t, 16, %p;\n  ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];\n");
  expectTwin(good, replaced(good, "[%rd1]", "[%rd1+4]"), 32, FindingKind::Misaligned,
             "ld.global.v4");
}

TEST(MemoryCheck, SharedOutOfBounds) {
  std::string good = kernel("  mov.u32 %r1, buffer;\n  st.shared.u32 [%r1+4092], %t;\n");
  expectTwin(good, replaced(good, "4092", "4096"), 1, FindingKind::OutOfBounds, "st.shared");
}

TEST(MemoryCheck, MaskedLanesMayHaveAnyAddress) {
  run(kernel("  setp.lt.u32 %q1, %t, 8;\n  @%q1 ld.global.u32 %r1, [%a];\n  @%q1 st.global.u32 "
             "[%a], %r1;\n"),
      256, 8)
      ->expectClean();
}

TEST(MemoryCheck, GenericAddressesFindTheirSpace) {
  run(kernel(R"(  mov.u64 %rd1, buffer;
  cvta.shared.u64 %rd2, %rd1;
  mad.wide.u32 %rd2, %t, 4, %rd2;
  st.u32 [%rd2], %t;
  ld.u32 %r1, [%rd2];
  st.u32 [%a], %r1;
)"),
      64)
      ->expectClean();
}

TEST(RaceCheck, ReadWithoutBarrier) {
  std::string good = kernel(kExchange), broken = without(good, "  bar.sync 0;\n");
  run(good, 64)->expectClean();
  auto gpu = run(broken, 64);
  gpu->expectFinding(FindingKind::Race, lineOf(broken, "ld.shared"));
  for (const Finding &finding : gpu->findings)
    if (finding.kind == FindingKind::Race && finding.ptxLine == lineOf(broken, "ld.shared")) {
      ASSERT_TRUE(finding.other);
      const OtherAccess &other = *finding.other;
      EXPECT_EQ(other.access, "write");
      EXPECT_EQ(other.ptxLine, lineOf(broken, "st.shared"));
      EXPECT_EQ(other.kernel, "k");
      EXPECT_EQ(std::tuple(other.ctaIndex, other.isAsynchronous), std::tuple(0u, false));
      EXPECT_EQ(other.warp, 1 - finding.warp);
      EXPECT_NE(finding.text().find("; the other: warp " + std::to_string(other.warp) + ", lane "),
                std::string::npos)
          << finding.text();
      EXPECT_EQ(finding.allocation.name, "buffer");
      EXPECT_EQ(finding.allocation.offset, static_cast<int64_t>(finding.address) - 1024);
      EXPECT_EQ(finding.allocation.bytes, 4096u);
    }
}

TEST(RaceCheck, OverwriteBeforeOthersHaveRead) {
  std::string tail = "  bar.sync 1;\n  mov.u32 %r6, 9;\n  st.shared.u32 [%r2], %r6;\n";
  std::string good = kernel(kExchange + tail);
  expectTwin(good, without(good, "  bar.sync 1;\n"), 64, FindingKind::Race,
             "st.shared.u32 [%r2], %r6");
}

TEST(RaceCheck, ExchangeInsideAWarpNeedsWarpSync) {
  std::string good =
      kernel(replaced(replaced(kExchange, "bar.sync 0", "bar.warp.sync -1"), "%t, 32", "%t, 1"));
  expectTwin(good, without(good, "  bar.warp.sync -1;\n"), 32, FindingKind::WarpRace, "ld.shared");
}

TEST(RaceCheck, NamedBarrierOrdersOnlyItsParticipants) {
  // Warps 0 and 1 meet at barrier 1; with a third warp reading the same word there is no order.
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  setp.ge.u32 %q1, %w, 2;
  @%q1 bra THIRD;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  bar.sync 1, 64;
  xor.b32 %r3, %r2, 128;
  ld.shared.u32 %r4, [%r3];
  bra DONE;
THIRD:
  ld.shared.u32 %r4, [%r1+2048];
DONE:
)");
  expectTwin(good, replaced(good, "[%r1+2048]", "[%r1+16]"), 96, FindingKind::Race, "[%r1+16]");
}

TEST(RaceCheck, ArriveAndSyncOrderProducerAndConsumer) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %l, 4, %r1;
  setp.eq.u32 %q1, %w, 0;
  @%q1 bra PRODUCER;
  bar.sync 1, 64;
  ld.shared.u32 %r4, [%r2];
  st.global.u32 [%a], %r4;
  bra DONE;
PRODUCER:
  st.shared.u32 [%r2], %t;
  bar.arrive 1, 64;
DONE:
)");
  std::string late = without(good, "  st.shared.u32 [%r2], %t;\n");
  late =
      replaced(late, "  bar.arrive 1, 64;\n", "  bar.arrive 1, 64;\n  st.shared.u32 [%r2], %t;\n");
  run(good, 64)->expectClean();
  auto gpu = run(late, 64);
  bool racy = false;
  for (const Finding &finding : gpu->findings)
    racy |= finding.kind == FindingKind::Race;
  EXPECT_TRUE(racy);
}

TEST(RaceCheck, EqualDuplicatesAreNoRace) {
  std::string good =
      kernel("  mov.u32 %r1, buffer;\n  mov.u32 %r2, 7;\n  st.shared.u32 [%r1], %r2;\n");
  expectTwin(good, replaced(good, "[%r1], %r2", "[%r1], %t"), 64, FindingKind::Race, "st.shared");
}

TEST(RaceCheck, NeighbouringHalvesAreSeparate) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 2, %r1;
  cvt.u16.u32 %h, %t;
  st.shared.u16 [%r2], %h;
)");
  good = replaced(good, ".reg .pred", ".reg .b16 %h;\n  .reg .pred");
  expectTwin(good,
             replaced(good, "st.shared.u16 [%r2]", "and.b32 %r2, %r2, -4;\n  st.shared.u16 [%r2]"),
             64, FindingKind::WarpRace, "st.shared.u16");
}

TEST(RaceCheck, AtomicsDoNotRaceWithEachOther) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mov.u32 %r2, 0;
  setp.eq.u32 %q1, %t, 0;
  @%q1 st.shared.u32 [%r1], %r2;
  bar.sync 0;
  atom.shared.add.u32 %r3, [%r1], 1;
  bar.sync 0;
  ld.shared.u32 %r4, [%r1];
  st.global.u32 [%a], %r4;
)");
  auto gpu = run(good, 96);
  gpu->expectClean();
  std::string broken = replaced(good, "1;\n  bar.sync 0;\n", "1;\n");
  // Which of the two comes second depends on the order of warps: here the atomic of a warp after the load of another.
  run(broken, 96)->expectFinding(FindingKind::Race, lineOf(broken, "atom.shared"));
}

} // namespace
} // namespace tile::vgpu
