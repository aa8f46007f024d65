// Every checker on a broken kernel, which must be reported with its kind and line, and on its correct twin, which must be
// clean. Broken twins are good kernels with one line taken out or changed.
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

// Neighbours exchange through shared memory.
const std::string kExchange = R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 4, %r1;
  st.shared.u32 [%r2], %t;
  bar.sync 0;
  xor.b32 %r3, %t, 32;
  mad.lo.u32 %r4, %r3, 4, %r1;
  ld.shared.u32 %r5, [%r4];
  st.global.u32 [%a], %r5;
)";

TEST(RaceCheck, ReadWithoutBarrier) {
  std::string good = kernel(kExchange), broken = without(good, "  bar.sync 0;\n");
  run(good, 64)->expectClean();
  auto gpu = run(broken, 64);
  gpu->expectFinding(FindingKind::Race, lineOf(broken, "ld.shared"));
  for (const Finding &finding : gpu->findings)
    if (finding.kind == FindingKind::Race && finding.ptxLine == lineOf(broken, "ld.shared")) {
      EXPECT_NE(finding.other.find("line " + std::to_string(lineOf(broken, "st.shared"))),
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

// The matmul kernel with one synchronisation taken out.
std::unique_ptr<Gpu> runMatmul(const std::string &ptx) {
  int m = 64, n = 64, k = 128;
  auto gpu = std::make_unique<Gpu>(ptx);
  std::vector<half> a(static_cast<size_t>(m) * k), b(static_cast<size_t>(k) * n);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = b[i] = half(static_cast<float>(i % 61));
  auto dc = gpu->device->alloc(sizeof(float) * m * n);
  gpu->run("matmul_mma", {1}, {128}, 0, gpu->upload(a), gpu->upload(b), dc, m, n, k);
  return gpu;
}

std::string commentOut(std::string text, const std::string &line, size_t occurrence) {
  size_t at = text.find(line);
  for (; at != std::string::npos && occurrence > 0; --occurrence)
    at = text.find(line, at + 1);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, 2, "//");
}

TEST(Mutations, EveryMissingSynchronisationOfAPipelineIsReported) {
  std::string good = kernelText("matmul_mma.ptx");
  runMatmul(good)->expectClean();
  for (std::string line : {"bar.sync", "cp.async.wait_group"}) {
    size_t count = 0;
    for (size_t at = good.find(line); at != std::string::npos; at = good.find(line, at + 1))
      ++count;
    ASSERT_GT(count, 0u);
    for (size_t i = 0; i < count; ++i)
      EXPECT_FALSE(runMatmul(commentOut(good, line, i))->findings.empty())
          << line << " number " << i;
  }
}

TEST(Mutations, WaitingForTooFewGroupsReadsACopyInFlight) {
  std::string broken = kernelText("matmul_mma.ptx");
  size_t at = broken.find("cp.async.wait_group 1");
  ASSERT_NE(at, std::string::npos);
  broken.replace(at, 21, "cp.async.wait_group 2");
  bool found = false;
  auto gpu = runMatmul(broken);
  for (const Finding &finding : gpu->findings) {
    found |= finding.kind == FindingKind::AsyncRace &&
             finding.ptxText.find("ldmatrix") != std::string::npos;
  }
  EXPECT_TRUE(found);
}

TEST(AsyncCheck, ReadBeforeTheWait) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 16, %r1;
  mad.wide.u32 %rd1, %t, 16, %p;
  cp.async.cg.shared.global [%r2], [%rd1], 16;
  cp.async.commit_group;
  cp.async.wait_group 0;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%a+2048], %r3;
)");
  expectTwin(good, without(good, "  cp.async.wait_group 0;\n"), 32, FindingKind::AsyncRace,
             "ld.shared");
}

// Copies of every size, whole, short and left out, of all lanes and of some: the same bytes with checks and without.
TEST(AsyncCopy, MovesTheSameWithAndWithoutChecks) {
  for (uint32_t bytes : {4u, 8u, 16u})
    for (std::string rest : {"", ", %r5", ", %q2"})
      for (std::string guard : {"", "@%q1 "})
        for (std::string checks : {"none", "memory,init", "all"}) {
          std::string size = std::to_string(bytes);
          std::string ptx = kernel(
              "  mov.u32 %r1, buffer;\n  mad.lo.u32 %r2, %t, 16, %r1;\n"
              "  mov.u32 %r3, 7;\n  st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3};\n"
              "  mad.wide.u32 %rd1, %t, 16, %p;\n  and.b32 %r4, %t, 3;\n"
              "  setp.ne.u32 %q1, %r4, 1;\n  setp.eq.u32 %q2, %r4, 2;\n  min.u32 %r5, %r4, 4;\n"
              "  " +
              guard + "cp.async.ca.shared.global [%r2], [%rd1], " + size + rest +
              ";\n  cp.async.wait_all;\n  ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r2];\n"
              "  st.global.v4.u32 [%rd1], {%r6, %r7, %r8, %r9};\n");
          Gpu gpu(ptx, "sm_80", checks);
          std::vector<uint8_t> data(1024), expected(1024);
          for (size_t i = 0; i < data.size(); ++i)
            data[i] = static_cast<uint8_t>(i * 7 + 1);
          for (uint32_t t = 0; t < 64; ++t)
            for (uint32_t i = 0; i < 16; ++i) {
              uint32_t turn = t % 4;
              uint32_t copied = rest == ", %r5" ? turn : rest == ", %q2" && turn == 2 ? 0 : bytes;
              bool skipped = i >= bytes || (!guard.empty() && turn == 1);
              size_t at = size_t{t} * 16 + i;
              expected[at] = skipped ? (i % 4 == 0 ? 7 : 0) : i < copied ? data[at] : 0;
            }
          auto buffer = gpu.upload(data);
          gpu.run("k", {1}, {64}, 0, buffer);
          gpu.expectClean();
          EXPECT_EQ(gpu.download<uint8_t>(buffer, data.size()), expected)
              << size << rest << " " << guard << checks;
        }
}

TEST(AsyncCheck, IsApartFromRaces) {
  std::string race = without(kernel(kExchange), "  bar.sync 0;\n");
  std::string copy = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 16, %r1;
  mad.wide.u32 %rd1, %t, 16, %p;
  cp.async.cg.shared.global [%r2], [%rd1], 16;
  ld.shared.u32 %r3, [%r2];
)");
  auto count = [](const std::string &ptx, const std::string &checks) {
    return run(ptx, 64, 1024, checks)->findings.size();
  };
  EXPECT_GT(count(race, "race"), 0u);
  EXPECT_EQ(count(race, "async"), 0u);
  EXPECT_GT(count(copy, "async"), 0u);
  EXPECT_EQ(count(copy, "race"), 0u);
  EXPECT_EQ(count(copy, "memory,init,sync"), 0u);
}

TEST(AsyncCheck, ZeroSizedSourceIsNotTouched) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 16, %r1;
  setp.eq.u32 %q1, %t, 0;
  selp.u32 %r4, 16, 0, %q1;
  mad.wide.u32 %rd1, %t, 99984, %p;
  cp.async.cg.shared.global [%r2], [%rd1], 16, %r4;
  cp.async.wait_all;
  ld.shared.u32 %r3, [%r2+4];
  st.global.u32 [%a+2048], %r3;
)");
  auto gpu = run(good, 32);
  gpu->expectClean();
}

TEST(SyncCheck, BarrierInDivergentCode) {
  std::string good = kernel(
      "  setp.lt.u32 %q1, %l, 16;\n  @%q1 bra L;\n  add.u32 %r1, %t, 1;\nL:\n  bar.sync 0;\n");
  std::string broken = replaced(good, "  add.u32 %r1, %t, 1;\n", "  bar.sync 0;\n");
  expectTwin(good, broken, 32, FindingKind::Divergence, "bar.sync 0;\nL:");
}

// Under a condition of the thread, half the warp waits at each of two barriers: both places are named, in the PTX and in
// the source.
TEST(SyncCheck, LanesAtTwoBarriersAreReportedWithBothPlaces) {
  std::string broken =
      kernel("  setp.lt.u32 %q1, %l, 16;\n  @%q1 bra L;\n  .loc 1 7 1\n  bar.sync 0;\n"
             "L:\n  .loc 1 9 1\n  bar.sync 0;\n") +
      ".file 1 \"halves.cu\"\n";
  int inner = lineOf(broken, "bar.sync 0;\nL:"), outer = inner + 3;
  auto gpu = run(broken, 32);
  ASSERT_EQ(gpu->findings.size(), 1u);
  EXPECT_EQ(gpu->findings[0].kind, FindingKind::Divergence);
  for (const std::string &place :
       {"16 lanes wait at bar.sync in line " + std::to_string(inner) + " (halves.cu:7)",
        "16 lanes wait at bar.sync in line " + std::to_string(outer) + " (halves.cu:9)"})
    EXPECT_NE(gpu->findings[0].message.find(place), std::string::npos)
        << "no '" << place << "' in: " << gpu->findings[0].message;
}

TEST(SyncCheck, GuardedBarrier) {
  std::string good = kernel("  setp.lt.u32 %q1, %t, 64;\n  @%q1 bar.sync 0;\n");
  expectTwin(good, replaced(good, "%t, 64", "%t, 48"), 64, FindingKind::Divergence, "bar.sync");
}

TEST(SyncCheck, DeadlockNamesWaitingWarps) {
  std::string good = kernel("  setp.eq.u32 %q1, %w, 0;\n  @%q1 bra L;\n  bar.sync 1, 64;\n  bra "
                            "E;\nL:\n  bar.sync 1, 64;\nE:\n");
  std::string broken =
      replaced(good, "L:\n  bar.sync 1, 64;", "L:\n  .loc 1 9 1\n  bar.sync 2, 64;") +
      ".file 1 \"warps.cu\"\n";
  run(good, 64)->expectClean();
  auto gpu = run(broken, 64);
  ASSERT_EQ(gpu->findings.size(), 1u);
  EXPECT_EQ(gpu->findings[0].kind, FindingKind::Deadlock);
  for (const std::string &place :
       {"warp 0 waits at bar.sync in line " + std::to_string(lineOf(broken, "bar.sync 2")) +
            " (warps.cu:9)",
        "warp 1 waits at bar.sync in line " + std::to_string(lineOf(broken, "bar.sync 1")) + " "})
    EXPECT_NE(gpu->findings[0].message.find(place), std::string::npos)
        << "no '" << place << "' in: " << gpu->findings[0].message;
  EXPECT_NE(gpu->findings[0].message.find("32 of 64"), std::string::npos);
}

TEST(SyncCheck, ExitedWarpsDoNotBlockTheBlocksBarrier) {
  run(kernel("  setp.eq.u32 %q1, %w, 1;\n  @%q1 exit;\n  bar.sync 0;\n"), 96)->expectClean();
}

TEST(SyncCheck, ShuffleByALaneOutsideItsMask) {
  std::string good =
      kernel("  shfl.sync.idx.b32 %r1, %t, 0, 31, -1;\n  st.global.u32 [%a], %r1;\n");
  expectTwin(good, replaced(good, "31, -1", "31, 65535"), 32, FindingKind::Divergence, "shfl.sync");
}

TEST(SyncCheck, BarrierCountMustBeAMultipleOf32) {
  std::string good = kernel("  bar.sync 1, 32;\n");
  expectTwin(good, replaced(good, "1, 32", "1, 33"), 32, FindingKind::Barrier, "bar.sync");
}

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

TEST(Switches, ChecksCanBeTurnedOff) {
  std::string racy = without(kernel(kExchange), "  bar.sync 0;\n");
  run(racy, 64, 1024, "memory,sync")->expectClean();
  run(racy, 64, 1024, "none")->expectClean();
  EXPECT_FALSE(run(racy, 64, 1024, "race")->findings.empty());
}

TEST(Switches, WithoutASinkALaunchThrowsAllFindings) {
  auto device = device::openVirtual({});
  std::string ptx = kernel("  ld.global.u32 %r1, [%a];\n");
  auto function = device->getFunction(device->loadModule(ptx, {}, "test.ptx"), "k");
  uint64_t pointer = 0;
  device::Arg args[] = {{&pointer, 8}};
  try {
    device->launch(function, {{1}, {32}, {}, 0}, args);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::DeviceFinding);
    EXPECT_EQ(error.fault(), Fault::Device);
    EXPECT_NE(error.message().find("test.ptx:" + std::to_string(lineOf(ptx, "ld.global")) +
                                   ": [out of bounds]"),
              std::string::npos)
        << error.message();
  }
}

TEST(Report, UserLineComesFromLoc) {
  std::string text = kernelText("vector_add.ptx");
  Gpu gpu(text);
  gpu.run("vector_add", {1}, {32}, 0, uint64_t{0}, uint64_t{0}, uint64_t{0}, 5);
  ASSERT_EQ(gpu.findings.size(), 1u);
  EXPECT_EQ(gpu.findings[0].sourceFile, "vector_add.cu");
  EXPECT_EQ(gpu.findings[0].sourceLine, 5);
  EXPECT_EQ(gpu.findings[0].kernel, "vector_add");
}

// `load` at line 3 of inner.h is inlined at line 7 of it, and that function in two lines of outer.cu.
TEST(Report, CallersOfInlinedFunctionsAreNamed) {
  const std::string ptx = kernel(R"(  .loc 1 20 5
  mov.u64 %rd1, 0;
  .loc 1 21 9
  mov.u32 %r1, 0;
  .loc 2 7 3, function_name $L__info_string0, inlined_at 1 20 5
  .loc 2 3 10, function_name $L__info_string1, inlined_at 2 7 3
  ld.global.u32 %r2, [%rd1];
  .loc 2 7 3, function_name $L__info_string0, inlined_at 1 21 9
  .loc 2 3 10, function_name $L__info_string1+4, inlined_at 2 7 3
  ld.global.u32 %r3, [%rd1+4];
  .loc 1 30 1
  ld.global.u32 %r4, [%rd1+8];
)") + ".file 1 \"outer.cu\"\n.file 2 \"inner.h\", 1, 2\n";
  for (auto [part, source, callers] :
       {std::tuple("u32 %r2, [%rd1]", SourcePlace{"inner.h", 3},
                   std::vector<SourcePlace>{{"inner.h", 7}, {"outer.cu", 20}}),
        std::tuple("u32 %r3, [%rd1", SourcePlace{"inner.h", 3},
                   std::vector<SourcePlace>{{"inner.h", 7}, {"outer.cu", 21}}),
        std::tuple("u32 %r4, [%rd1", SourcePlace{"outer.cu", 30}, std::vector<SourcePlace>{})}) {
    // Accesses to no memory end the launch: the others are taken out.
    std::string one;
    std::istringstream lines(ptx);
    for (std::string line; std::getline(lines, line);)
      one +=
          line.find("ld.global") == line.npos || line.find(part) != line.npos ? line + "\n" : "\n";
    auto gpu = run(one, 1);
    ASSERT_EQ(gpu->findings.size(), 1u) << part;
    const Finding &finding = gpu->findings[0];
    EXPECT_EQ((SourcePlace{finding.sourceFile, finding.sourceLine}), source);
    EXPECT_EQ(finding.inlinedAt, callers) << finding.text();
  }
}

TEST(Determinism, FindingsDoNotDependOnThreads) {
  std::string racy = without(kernel(kExchange), "  bar.sync 0;\n");
  std::string texts[2];
  for (int threads : {1, 2}) {
    Gpu gpu(racy, "sm_80", "all", threads);
    gpu.run("k", {64}, {64}, 0, gpu.upload(std::vector<uint32_t>(64)));
    for (const Finding &finding : gpu.findings)
      texts[threads - 1] += finding.text() + "\n";
    EXPECT_EQ(gpu.findings.at(0).ctaIndex, 0u);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

} // namespace
} // namespace tile::vgpu
