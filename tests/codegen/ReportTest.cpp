// The plain parts of a report: sectors, occupancy, roofline, against numbers worked out by hand.
#include "codegen/compiled/Occupancy.h"
#include "codegen/report/MakeReport.h"
#include "codegen/report/Roofline.h"

#include <gtest/gtest.h>

using namespace tile;
using namespace tile::codegen;

namespace {

constexpr int64_t kKilobyte = 1024;

Occupancy onA100(int64_t threads, std::optional<int64_t> registers, int64_t sharedBytes) {
  return occupancyOf(*ir::findTarget("sm_80"), threads, registers, sharedBytes);
}

TEST(Targets, GpusHaveTheNearestOneThatTheyRun) {
  EXPECT_STREQ(ir::targetForGpu("sm_86").name, "sm_86");
  EXPECT_STREQ(ir::targetForGpu("sm_90a").name, "sm_90a");
  EXPECT_STREQ(ir::targetForGpu("sm_90").name, "sm_90"); // what is of sm_90a it need not have
  EXPECT_STREQ(ir::targetForGpu("sm_100a").name, "sm_90");
  EXPECT_STREQ(ir::targetForGpu("sm_120a").name, "sm_89"); // has too little memory for sm_90
  EXPECT_STREQ(ir::targetForGpu("sm_121a").name, "sm_89");
  EXPECT_STREQ(ir::targetForGpu("sm_120f").name, "sm_89");
  EXPECT_FALSE(ir::runsOn(*ir::findTarget("sm_90"), "sm_120a"));
  EXPECT_TRUE(ir::runsOn(*ir::findGpu("sm_120f"), "sm_121a"));
  EXPECT_FALSE(ir::runsOn(*ir::findTarget("sm_90a"), "sm_100a"));
  EXPECT_STREQ(ir::targetForGpu("sm_130a").name, "sm_90");
  EXPECT_STREQ(ir::targetForGpu("sm_87").name, "sm_86");
  EXPECT_STREQ(ir::targetForGpu("sm_75").name, "sm_80");
  EXPECT_STREQ(ir::targetForGpu("no gpu").name, "sm_80");
}

TEST(Occupancy, ThreadsAndBlocks) {
  EXPECT_EQ(onA100(1024, {}, 0).blocksPerSm, 2);
  EXPECT_EQ(onA100(1024, {}, 0).limit, "threads");
  EXPECT_EQ(onA100(32, {}, 0).blocksPerSm, 32);
  EXPECT_EQ(onA100(32, {}, 0).limit, "blocks");
  EXPECT_EQ(onA100(32, {}, 0).fraction(), 0.5);
  EXPECT_EQ(onA100(64, {}, 0).limit, "threads and blocks");
  EXPECT_EQ(occupancyOf(*ir::findTarget("sm_86"), 32, {}, 0).blocksPerSm, 16);
}

TEST(Occupancy, RegistersAreHandedOutByWarpsAndQuarters) {
  EXPECT_EQ(onA100(256, 64, 0).blocksPerSm, 4); // 2048 a warp, 32 warps
  EXPECT_EQ(onA100(256, 65, 0).blocksPerSm, 3); // 2304 a warp: 7 a quarter, 28 warps
  EXPECT_EQ(onA100(256, 137, 0).blocksPerSm, 1);
  EXPECT_EQ(onA100(256, 137, 0).limit, "registers");
  EXPECT_EQ(onA100(1024, 255, 0).blocksPerSm, 0);
}

TEST(Occupancy, SharedMemoryHasAReservedKilobyteABlock) {
  EXPECT_EQ(onA100(128, 32, 81 * kKilobyte).blocksPerSm, 2);
  EXPECT_EQ(onA100(128, 32, 81 * kKilobyte + 1).blocksPerSm, 1);
  EXPECT_EQ(onA100(128, 32, 163 * kKilobyte).blocksPerSm, 1);
  EXPECT_EQ(onA100(128, 32, 163 * kKilobyte).limit, "shared memory");
}

TEST(GlobalTraffic, RowsUseWholeSectors) {
  auto rows = layout::Layout::coalesced({16, 64}, {1, 0}, 8, 1);
  GlobalTraffic traffic = trafficOf(rows, 1, {64}, 8, 2);
  EXPECT_EQ(traffic.accesses, 4);
  EXPECT_EQ(traffic.usedBytes, 16 * 64 * 2);
  EXPECT_EQ(traffic.efficiency(), 1);
}

TEST(GlobalTraffic, ScatteredElementsUseAPartOfEach) {
  auto lanes = layout::Layout::coalesced({32}, {0}, 1, 1);
  EXPECT_EQ(trafficOf(lanes, 0, {1}, 1, 4).sectors, 32);
  EXPECT_EQ(trafficOf(lanes, 0, {1}, 1, 4).efficiency(), 0.125);
  EXPECT_EQ(trafficOf(lanes, 0, {4}, 1, 4).efficiency(), 0.5); // runs of 16 bytes
  EXPECT_EQ(trafficOf(lanes, 0, {32}, 1, 4).sectors, 4);
}

TEST(GlobalTraffic, WhereRunsAreUnknownIsBetweenApartAndTogether) {
  auto lanes = layout::Layout::coalesced({32}, {0}, 1, 1);
  GlobalTraffic runs = trafficOf(lanes, 0, {4}, 1, 4);
  EXPECT_FALSE(runs.isKnown());
  EXPECT_EQ(runs.leastSectors, 4);
  EXPECT_EQ(runs.mostEfficiency(), 1);
  EXPECT_TRUE(trafficOf(lanes, 0, {32}, 1, 4).isKnown());
  GlobalTraffic column = trafficOf(lanes, 0, {32, 64}, 1, 4),
                everyOther = trafficOf(lanes, 0, {32, 2}, 1, 4);
  EXPECT_TRUE(column.isKnown());
  EXPECT_EQ(column.sectors, 32);
  EXPECT_EQ(everyOther.sectors, 8);
  EXPECT_EQ(trafficOf(lanes, 0, {32, 0}, 1, 4).usedBytes, 4) << "one element for all";
}

TEST(GlobalTraffic, NarrowRowsAndCopies) {
  auto narrow = layout::Layout::coalesced({32, 4}, {1, 0}, 4, 1);
  EXPECT_EQ(trafficOf(narrow, 1, {4}, 4, 2).efficiency(), 0.25); // 8 bytes of each row's sector
  auto copies = layout::Layout::replicated({8}, 1);
  EXPECT_EQ(trafficOf(copies, 0, {8}, 8, 4).sectors, 1); // all lanes the same 32 bytes
}

KernelReport reportOf(LaunchWork launch) {
  KernelReport report;
  report.launch = std::move(launch);
  return report;
}

TEST(Roofline, IsOfAllOperationsAndEachByteOnce) {
  LaunchWork launch;
  launch.flops = {{kUnitF32, 180}};
  launch.bytesRead = 1000, launch.distinctRead = 60, launch.distinctWritten = 40;
  Roofline r = rooflineOf(reportOf(launch), ir::findTarget("sm_80")->card);
  EXPECT_TRUE(r.isMemoryBound);
  EXPECT_NEAR(r.intensity, 1.8, 1e-9);
  EXPECT_NEAR(r.bound, 1.8 * 2.039, 1e-9);
  EXPECT_NEAR(r.ridge, 19.5 / 2.039, 1e-9);
}

TEST(Roofline, IsThatOfTheUnitWhereMemoryIsFasterOrNotKnown) {
  LaunchWork launch;
  launch.flops = {{kUnitTensor16, 312e6}};
  launch.distinctRead = 20390;
  Roofline r = rooflineOf(reportOf(launch), ir::findTarget("sm_80")->card);
  EXPECT_FALSE(r.isMemoryBound);
  EXPECT_NEAR(r.bound, 312, 1e-9);
  launch.distinctRead = 1e9;
  EXPECT_TRUE(rooflineOf(reportOf(launch), ir::findTarget("sm_80")->card).isMemoryBound);
  launch.atMost = {"where it lies at a.cpp:3"};
  r = rooflineOf(reportOf(launch), ir::findTarget("sm_80")->card);
  EXPECT_FALSE(r.isMemoryBound) << "there may be fewer bytes";
  EXPECT_NEAR(r.bound, 312, 1e-9);
  launch.unknown = "how often the loop at a.cpp:3 is carried out";
  r = rooflineOf(reportOf(launch), ir::findTarget("sm_80")->card);
  EXPECT_EQ(r.unknown, launch.unknown);
  EXPECT_EQ(r.bound, 0);
}

TEST(Roofline, PeaksAreThoseOfTheClock) {
  // Operations on f16 that the tensor cores of a multiprocessor do in a cycle, with sums of f32 and of f16.
  struct Row {
    const char *gpu;
    int sums32, sums16;
  };
  for (auto [gpu, sums32, sums16] : {Row{"sm_75", 1024, 1024},
                                     {"sm_80", 2048, 2048},
                                     {"sm_86", 512, 1024},
                                     {"sm_89", 512, 1024},
                                     {"sm_90", 4096, 4096},
                                     {"sm_90a", 4096, 4096},
                                     {"sm_120f", 512, 1024}}) {
    const ir::Card card = ir::findGpu(gpu)->card;
    double terahertz = card.multiprocessors * card.gigahertz / 1000;
    EXPECT_NEAR(card.f16 / (sums32 * terahertz), 1, 0.01) << gpu;
    EXPECT_NEAR(card.f16SumsOfF16 / (sums16 * terahertz), 1, 0.01) << gpu;
    EXPECT_EQ(peakOf(card, kUnitTensor16), card.f16) << gpu;
    EXPECT_EQ(peakOf(card, kUnitTensor16SumsOfF16), card.f16SumsOfF16) << gpu;
  }
}

TEST(Targets, EachRowHasWhatReportsAndTheTunerDivideBy) {
  for (const ir::Target &gpu : ir::allGpus()) {
    EXPECT_GT(gpu.card.f32, 0) << gpu.name;
    EXPECT_GT(gpu.card.f64, 0) << gpu.name;
    EXPECT_GT(gpu.card.gigabytes, 0) << gpu.name;
    EXPECT_GT(gpu.card.multiprocessors, 0) << gpu.name;
    EXPECT_LE(gpu.maxSharedBytesPerBlock, gpu.sharedBytesPerSm) << gpu.name;
    EXPECT_FALSE(std::string_view(gpu.card.source).empty()) << gpu.name;
    bool hasProducts = gpu.card.f8 > 0;
    EXPECT_EQ(hasProducts, gpu.hasFloat8) << gpu.name;
  }
}

TEST(Roofline, NothingToDo) {
  Roofline r = rooflineOf(reportOf({}), ir::findTarget("sm_90a")->card);
  EXPECT_EQ(r.bound, 0);
  EXPECT_EQ(r.intensity, 0);
}

TEST(Requests, OfLanesThatNeedOneElementAreOne) {
  auto rows =
      layout::Layout::coalesced({4, 64}, {1, 0}, 2, 4); // a row a warp, two neighbours a lane
  EXPECT_EQ(requestsPerElement(rows, 2, 0), 1);
  EXPECT_EQ(requestsPerElement(rows, 2, 0b10), 1.0 / 64) << "all of a row are one element";
  EXPECT_EQ(requestsPerElement(rows, 2, 0b01), 1) << "each warp asks for its own row";
  EXPECT_EQ(requestsPerElement(layout::Layout::replicated({8}, 4), 1, 0), 4) << "four warps";
}

} // namespace
