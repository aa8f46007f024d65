// Memory barriers, bulk copies, tensor copies and clusters of sm_90a: correct kernels are clean under every schedule and
// give the right bytes; each with one synchronisation taken out is reported with its kind.
#include "tests/runtime/vgpu/PipelineKernels.h"

namespace tile::vgpu {
namespace {

TEST(Mbarrier, BulkLoadIsWaitedFor) {
  std::string good = hopper(kBulkLoad);
  expectRuns(good, 8192, addedOne);
  expectBroken(replaced(good, "  @!%q1 bra WAIT;\n", ""), FindingKind::AsyncRace, "ld.shared.u32");
}

TEST(Mbarrier, InitialisationMustBeOrderedBeforeUse) {
  std::string good = hopper(kBulkLoad);
  std::string broken = without(good, "  bar.sync 0;\n");
  expectCaught(broken, {FindingKind::Async});
}

TEST(Mbarrier, MissingInitialisation) {
  std::string broken = without(hopper(kBulkLoad), "  @%q15 mbarrier.init.shared.b64 [full], 1;\n");
  auto gpu = launch(broken, Schedule::Eager);
  ASSERT_FALSE(gpu->findings.empty());
  EXPECT_EQ(gpu->findings[0].kind, FindingKind::Async);
  EXPECT_NE(gpu->findings[0].message.find("no mbarrier"), std::string::npos);
}

TEST(Mbarrier, TooManyBytesExpectedIsADeadlockThatNamesThem) {
  std::string broken = replaced(hopper(kBulkLoad), "[full], 4096;", "[full], 4112;");
  for (auto [schedule, seed] : kSchedules) {
    auto gpu = launch(broken, schedule, seed);
    ASSERT_FALSE(gpu->findings.empty());
    EXPECT_EQ(gpu->findings[0].kind, FindingKind::Deadlock);
    EXPECT_NE(gpu->findings[0].message.find("16 bytes outstanding"), std::string::npos)
        << gpu->findings[0].text();
  }
}

TEST(Mbarrier, ArrivalsThatAreTooMany) {
  std::string broken = replaced(hopper(kBulkLoad), "[tile], [%p], 4096, [full];\n",
                                "[tile], [%p], 4096, [full];\n"
                                "  mbarrier.arrive.shared.b64 %rd2, [full];\n");
  auto gpu = launch(broken, Schedule::Lazy);
  gpu->expectFinding(FindingKind::Async, lineOf(broken, "mbarrier.arrive.shared.b64 %rd2"));
}

TEST(Mbarrier, ReadingItsBytesAsData) {
  std::string broken = replaced(hopper(kBulkLoad), "  mov.u32 %r1, tile;\n",
                                "  ld.shared.u32 %r9, [full+4];\n  mov.u32 %r1, tile;\n");
  expectBroken(broken, FindingKind::Async, "ld.shared.u32 %r9");
}

TEST(Mbarrier, RingOfStages) {
  std::string good = hopper(kRing);
  expectRuns(good, 8192, ringSums);
  // The producer must wait until a stage has been read, the consumer until it is full.
  expectCaught(without(good, "  @!%q3 bra PWAIT;\n"), {FindingKind::AsyncRace, FindingKind::Async});
  expectBroken(without(good, "  @!%q3 bra CWAIT;\n"), FindingKind::AsyncRace, "ld.shared.u32 %r8");
}

TEST(Bulk, StoreReadsWhatAFenceHasMadeVisible) {
  std::string good = hopper(kBulkStore);
  expectRuns(good, 8192, storedFrom100);
  expectBroken(without(good, "  fence.proxy.async.shared::cta;\n"), FindingKind::Proxy,
               "cp.async.bulk.global");
  expectBroken(without(good, "  cp.async.bulk.wait_group.read 0;\n"), FindingKind::AsyncRace,
               "st.shared.u32 [%r2], %t");
  expectCaught(without(good, "  bar.sync 0;\n"), {FindingKind::Race, FindingKind::AsyncRace});
  expectBroken(without(without(good, "  cp.async.bulk.wait_group.read 0;\n"),
                       "  st.shared.u32 [%r2], %t;\n"),
               FindingKind::Async, "cp.async.bulk.global");
}

TEST(Bulk, ReductionsAddToGlobalMemory) {
  std::string good = replaced(hopper(kBulkStore), "cp.async.bulk.global.shared::cta.bulk_group [",
                              "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [");
  expectRuns(good, 8192, [](size_t i) {
    return static_cast<uint32_t>(i >= 4096 && i < 4160 ? i + i - 4096 + 100 : i);
  });
}

// Waiting for a bulk group leaves other copies of the warp alone, though they may be in flight.
TEST(Bulk, GroupsAreWaitedForAmongOtherCopies) {
  std::string good = hopper(R"(  @%q15 mbarrier.init.shared.b64 [full], 64;
  bar.sync 2;
  mov.u32 %r10, tile;
  mad.lo.u32 %r10, %t, 4, %r10;
  cp.async.ca.shared.global [%r10+4096], [%a], 4;
  cp.async.mbarrier.arrive.noinc.shared.b64 [full];
)" + kBulkStore + R"(WAIT:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  ld.shared.u32 %r11, [%r10+4096];
  st.global.u32 [%a+24576], %r11;
)");
  expectRuns(good, 8192, [](size_t i) {
    size_t word = i >= 4096 && i < 4160 ? i - 4096 + 100 : i >= 6144 && i < 6208 ? i - 6144 : i;
    return static_cast<uint32_t>(word);
  });
}

TEST(Bulk, SizesAndAddressesAreChecked) {
  expectBroken(replaced(hopper(kBulkLoad), "[%p], 4096", "[%p], 4088"), FindingKind::Misaligned,
               "cp.async.bulk");
  expectBroken(replaced(hopper(kBulkLoad), "[%p], 4096", "[%p+8], 4096"), FindingKind::Misaligned,
               "cp.async.bulk");
  expectBroken(replaced(hopper(kBulkLoad), "[%p], 4096", "[%p+30000], 4096"),
               FindingKind::OutOfBounds, "cp.async.bulk");
  expectBroken(replaced(hopper(kBulkLoad), "[tile], [%p], 4096", "[tile+4608], [%p], 4096"),
               FindingKind::OutOfBounds, "cp.async.bulk");
}

TEST(Clusters, SharedMemoryOfTheNeighbour) {
  Shape pairs{{4}, {64}, {2, 1, 1}};
  std::string good = hopper(kCluster);
  expectRuns(good, 256, neighboursWords, pairs);
  std::string unordered = replaced(without(good, "  barrier.cluster.wait.acquire.aligned;\n"),
                                   "  barrier.cluster.arrive.release.aligned;\n", "");
  expectBroken(unordered, FindingKind::Race, "ld.shared::cluster", pairs);
  expectBroken(replaced(good, "arrive.release.aligned", "arrive.relaxed.aligned"),
               FindingKind::Race, "ld.shared::cluster", pairs);
  expectBroken(replaced(good, "xor.b32 %r5, %r3, 1", "add.u32 %r5, %r3, 1"),
               FindingKind::OutOfBounds, "mapa", pairs);
}

TEST(Clusters, TheNeighbourMustNotHaveExited) {
  std::string broken = hopper(kCluster);
  broken = without(broken, "  barrier.cluster.arrive.aligned;\n");
  broken = without(broken, "  barrier.cluster.wait.aligned;\n");
  bool found = false;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    auto gpu = launch(broken, Schedule::Random, seed, {{2}, {64}, {2, 1, 1}});
    for (const Finding &finding : gpu->findings)
      found |= finding.kind == FindingKind::UseAfterFree;
  }
  EXPECT_TRUE(found);
}

TEST(Clusters, WaitingTwiceIsReported) {
  Shape pairs{{2}, {64}, {2, 1, 1}};
  std::string broken = replaced(hopper(kCluster), "  barrier.cluster.wait.acquire.aligned;\n",
                                "  barrier.cluster.wait.acquire.aligned;\n  "
                                "barrier.cluster.wait.acquire.aligned;\n");
  auto gpu = launch(broken, Schedule::Eager, 0, pairs);
  ASSERT_FALSE(gpu->findings.empty());
  EXPECT_EQ(gpu->findings[0].kind, FindingKind::Barrier);
}

// Every thread sends its number to the other block, whose barrier counts the bytes.
const std::string kRemoteStore = R"(  @%q15 mbarrier.init.shared.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  mov.u32 %r20, 7;
  st.shared.u32 [%r2], %r20;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  @%q15 mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], 256;
  mov.u32 %r3, %cluster_ctarank;
  xor.b32 %r5, %r3, 1;
  mapa.shared::cluster.u32 %r6, %r2, %r5;
  mov.u32 %r7, full;
  mapa.shared::cluster.u32 %r8, %r7, %r5;
  mad.lo.u32 %r4, %r3, 1000, %t;
  st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r6], %r4, [%r8];
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  ld.shared.u32 %r9, [%r2];
  mov.u32 %r10, %ctaid.x;
  mad.lo.u32 %r11, %r10, 64, %t;
  mad.wide.u32 %rd2, %r11, 4, %p;
  st.global.u32 [%rd2], %r9;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";

TEST(Clusters, StoresThatCompleteBytesOfAnothersBarrier) {
  Shape pairs{{2}, {64}, {2, 1, 1}};
  std::string good = hopper(kRemoteStore);
  expectRuns(
      good, 128, [](size_t i) { return static_cast<uint32_t>((i < 64 ? 1000 : 0) + i % 64); },
      pairs);
  expectCaught(without(good, "  @!%q1 bra WAIT;\n"), {FindingKind::AsyncRace, FindingKind::Async},
               pairs);
  std::string adds = replaced(good, "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32",
                              "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::"
                              "bytes.add.u32");
  expectRuns(
      adds, 128, [](size_t i) { return static_cast<uint32_t>((i < 64 ? 1007 : 7) + i % 64); },
      pairs);
}

TEST(Clusters, MulticastFillsEveryBlock) {
  std::string good = hopper(kMulticast);
  Shape pairs{{2}, {64}, {2, 1, 1}};
  expectRuns(good, 8192, multicastWords, pairs);
  expectBroken(replaced(good, "mov.b16 %h1, 3", "mov.b16 %h1, 7"), FindingKind::OutOfBounds,
               "cp.async.bulk", pairs);
}

// A box of 16 words by 8 rows at several columns of an array 62 words wide: cut at chunks, within chunks, and not at all.
// Words outside are 0.
void expectBoxes(device::TensorMapSwizzle swizzle) {
  device::TensorMapParams params;
  params.type = device::TensorMapType::U32;
  params.rank = 2;
  params.dims = {62, 32, 1, 1, 1};
  params.strides = {256, 0, 0, 0};
  params.box = {16, 8, 1, 1, 1};
  params.swizzle = swizzle;
  for (int column : {0, 20, -4, 56, 52})
    for (std::string checks : {"all", "memory,init", "none"}) {
      SCOPED_TRACE(std::to_string(column) + " " + checks);
      std::string ptx = hopper(R"(  @%q15 mbarrier.init.shared.b64 [full], 1;
  fence.proxy.async;
  bar.sync 0;
  @!%q15 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 %rd1, [full], 512;
  mov.b64 %rd2, map;
  cvta.param.u64 %rd2, %rd2;
  mov.u32 %r1, )" + std::to_string(column) +
                               R"(;
  mov.u32 %r2, 5;
  mov.u32 %r3, tile;
  mov.u32 %r4, full;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd2, {%r1, %r2}], [%r4];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  mad.lo.u32 %r5, %t, 4, tile;
  ld.shared.u32 %r6, [%r5];
  ld.shared.u32 %r7, [%r5+256];
  st.global.u32 [%a], %r6;
  st.global.u32 [%a+256], %r7;
)");
      Gpu gpu(ptx, "sm_90a", checks);
      std::vector<uint32_t> data(64 * 32);
      std::iota(data.begin(), data.end(), 1u);
      params.base = gpu.upload(data);
      auto out = gpu.upload(std::vector<uint32_t>(128));
      gpu.run("k", {1}, {64}, 0, out, gpu.device->encodeTensorMap(params));
      gpu.expectClean();
      auto words = gpu.download<uint32_t>(out, 128);
      for (int row = 0; row < 8; ++row)
        for (int i = 0; i < 16; ++i) {
          bool inside = column + i >= 0 && column + i < 62;
          // 16-byte chunks by bits 7 and 8 of the address
          int exchanged = swizzle == device::TensorMapSwizzle::Bytes64 ? row / 2 % 4 * 4 : 0;
          int place = row * 16 + (i ^ exchanged);
          ASSERT_EQ(words[place], inside ? data[(row + 5) * 64 + column + i] : 0)
              << row << " " << i;
        }
    }
}

TEST(Bulk, BoxesAreTheSameWithAndWithoutChecks) { expectBoxes(device::TensorMapSwizzle::None); }

TEST(Bulk, SwizzledBoxesAreTheSameWithAndWithoutChecks) {
  expectBoxes(device::TensorMapSwizzle::Bytes64);
}

} // namespace
} // namespace tile::vgpu
