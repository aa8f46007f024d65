// What the counters say, against counts made from their definitions.
#include "tests/runtime/vgpu/Kernels.h"

#include <map>
#include <set>

namespace tile::vgpu {
namespace {

/// A kernel whose lane `t` makes address %at of memory `x` from %t, then runs `body`. Lines 17 on are those of the body.
std::string kernelAround(const std::string &body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 x)\n{\n"
         ".reg .pred %p, %q;\n.reg .b16 %h;\n.reg .b32 %t, %at, %a, %b, %c, %d;\n.reg .b64 %x, %l, "
         "%m;\n"
         ".reg .f32 %f<8>;\n"
         ".shared .align 128 .b8 s[8192];\n"
         "ld.param.u64 %x, [x];\n"
         "mov.u32 %t, %tid.x;\n"
         "mul.wide.u32 %l, %t, 4;\n"
         "add.u64 %l, %l, %x;\n"
         "\n" +
         body + "ret;\n}\n";
}

struct Counted {
  Counters all;
  std::map<int, Counters> byLine;
  InstructionMix mix;
};

Counted countRun(const std::string &ptx, uint32_t threads = 32, uint32_t blocks = 1,
                 int hostThreads = 1, size_t bytes = 1 << 16) {
  Gpu gpu(ptx, "sm_80", "none", hostThreads);
  auto memory = gpu.upload(std::vector<uint8_t>(bytes));
  gpu.device->setCounters(true);
  gpu.run("k", {blocks}, {threads}, 0, memory);
  gpu.expectClean();
  Counted counted{gpu.device->counters(), {}, mixOf(gpu.device->countersByLine())};
  for (const LineCounters &line : gpu.device->countersByLine())
    counted.byLine[line.ptxLine] = line.counters;
  EXPECT_EQ(gpu.device->statistics().warpInstructions, counted.all.warpInstructions);
  EXPECT_EQ(gpu.device->statistics().blocks, blocks);
  return counted;
}

struct Width {
  const char *load;
  unsigned bytes;
};
constexpr Width kWidths[] = {{"u8 %a", 1},           {"u16 %h", 2},
                             {"b32 %a", 4},          {"b64 %m", 8},
                             {"v2.b32 {%a, %b}", 8}, {"v4.b32 {%a, %b, %c, %d}", 16}};

// Lane t accesses t * stride modulo the 8 KiB there are, aligned to `bytes`.
uint64_t placeOf(unsigned lane, unsigned stride, unsigned bytes) {
  return (lane * stride % 8192) / bytes * bytes;
}

TEST(Counters, WavefrontsOfSharedMemory) {
  for (const Width &width : kWidths)
    for (unsigned stride :
         {0u, 1u, 4u, 8u, 12u, 16u, 20u, 32u, 64u, 68u, 80u, 128u, 132u, 144u, 256u, 1028u})
      for (unsigned lanes : {32u, 19u, 1u}) {
        auto counted = countRun(kernelAround("mul.lo.u32 %at, %t, " + std::to_string(stride) +
                                             ";\nand.b32 %at, %at, 8191;\n"
                                             "and.b32 %at, %at, " +
                                             std::to_string(-static_cast<int>(width.bytes)) +
                                             ";\n"
                                             "mov.u32 %b, s;\nadd.u32 %at, %at, %b;\n"
                                             "setp.lt.u32 %p, %t, " +
                                             std::to_string(lanes) +
                                             ";\n"
                                             "@%p ld.shared." +
                                             std::string(width.load) + ", [%at];\n"));
        uint64_t wavefronts = 0, ideal = 0, touched = 0;
        unsigned perPhase = std::min(32u, 128 / width.bytes);
        for (unsigned first = 0; first < lanes; first += perPhase) {
          std::map<uint64_t, std::set<uint64_t>> wordsOfBank;
          size_t most = 0;
          for (unsigned lane = first; lane < std::min(lanes, first + perPhase); ++lane)
            for (unsigned byte = 0; byte < width.bytes; ++byte) {
              uint64_t word = (placeOf(lane, stride, width.bytes) + byte) / 4;
              wordsOfBank[word % 32].insert(word);
              most = std::max(most, wordsOfBank[word % 32].size());
              touched = std::max(touched, placeOf(lane, stride, width.bytes) + width.bytes);
            }
          wavefronts += most;
          ideal += 1;
        }
        SCOPED_TRACE(std::string(width.load) + " stride " + std::to_string(stride) + " lanes " +
                     std::to_string(lanes));
        EXPECT_EQ(counted.all.sharedRequests, 1u);
        EXPECT_EQ(counted.all.sharedWavefronts, wavefronts);
        EXPECT_EQ(counted.all.sharedIdeal, ideal);
        EXPECT_EQ(counted.all.sharedTouched, touched);
      }
}

TEST(Counters, SectorsAndLinesOfGlobalMemory) {
  for (const Width &width : kWidths)
    for (unsigned stride : {0u, 1u, 4u, 8u, 16u, 20u, 32u, 36u, 128u, 200u}) {
      auto counted = countRun(kernelAround("sub.u32 %t, 31, %t;\n" // falling addresses
                                           "mul.lo.u32 %at, %t, " +
                                           std::to_string(stride) +
                                           ";\n"
                                           "and.b32 %at, %at, " +
                                           std::to_string(-static_cast<int>(width.bytes)) +
                                           ";\n"
                                           "cvt.u64.u32 %l, %at;\nadd.u64 %l, %l, %x;\n"
                                           "ld.global." +
                                           std::string(width.load) + ", [%l];\n"));
      std::set<uint64_t> bytes, sectors, lines;
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned byte = 0; byte < width.bytes; ++byte) {
          uint64_t at =
              placeOf(lane, stride, width.bytes) + byte; // memory begins at a multiple of 256
          bytes.insert(at), sectors.insert(at / 32), lines.insert(at / 128);
        }
      SCOPED_TRACE(std::string(width.load) + " stride " + std::to_string(stride));
      EXPECT_EQ(counted.all.globalRequests, 1u);
      EXPECT_EQ(counted.all.globalSectors, sectors.size());
      EXPECT_EQ(counted.all.globalLines, lines.size());
      EXPECT_EQ(counted.all.globalBytesUsed, bytes.size());
    }
}

struct Sectors {
  uint64_t loaded, stored;
  bool operator==(const Sectors &) const = default;
};
void PrintTo(const Sectors &sectors, std::ostream *out) {
  *out << sectors.loaded << " loaded, " << sectors.stored << " stored";
}
Sectors distinctOf(const Counters &counters) {
  return {counters.distinctSectorsLoaded, counters.distinctSectorsStored};
}

TEST(Counters, DistinctSectorsOfALaunch) {
  // All blocks load the same 1 KiB, twice; of their stores only the last sector is apart.
  const char *kLoads = "ld.global.f32 %f1, [%l];\nld.global.f32 %f2, [%l];\n";
  std::string ptx =
      kernelAround(std::string(kLoads) + "mov.u32 %a, %ctaid.x;\nmul.wide.u32 %m, %a, 32;\n"
                                         "add.u64 %m, %m, %x;\nst.global.f32 [%m+4096], %f1;\n");
  for (int hostThreads : {1, 4}) {
    auto counted = countRun(ptx, 256, 37, hostThreads);
    EXPECT_EQ(distinctOf(counted.all), (Sectors{32, 37}));
    EXPECT_EQ(counted.all.globalSectors, 37u * 8 * (2 * 4 + 1));
    EXPECT_EQ(counted.all.distinctBytes(), 32u * (32 + 37));
    EXPECT_EQ(distinctOf(counted.byLine[lineOf(ptx, "st.global")]), (Sectors{0, 0}))
        << "of the launch alone";
  }
}

TEST(Counters, DistinctSectorsOfAtomicsAndCopies) {
  auto sectorsOf = [](const std::string &body) {
    return distinctOf(countRun(kernelAround(body), 32, 2).all);
  };
  EXPECT_EQ(sectorsOf("atom.global.add.u32 %a, [%l], 1;\n"), (Sectors{4, 4}));
  EXPECT_EQ(sectorsOf("red.global.add.u32 [%x+64], 1;\n"), (Sectors{1, 1}));
  std::string copy = "mov.u32 %at, s;\nmad.lo.u32 %at, %t, 16, %at;\n"
                     "mul.wide.u32 %l, %t, 16;\nadd.u64 %l, %l, %x;\n";
  std::string wait = "cp.async.commit_group;\ncp.async.wait_group 0;\n";
  EXPECT_EQ(sectorsOf(copy + "cp.async.cg.shared.global [%at], [%l], 16;\n" + wait),
            (Sectors{16, 0}));
  // The second half of each sector is not read, and nothing of those from lane 16 on.
  EXPECT_EQ(sectorsOf(copy +
                      "setp.lt.u32 %p, %t, 16;\nand.b32 %a, %t, 1;\nsetp.eq.and.u32 %p, %a, 0, %p;"
                      "\nselp.b32 %b, 8, 0, %p;\n"
                      "cp.async.cg.shared.global [%at], [%l], 16, %b;\n" +
                      wait),
            (Sectors{8, 0}));
}

TEST(Counters, AtomicsOnVectorsAreOneRequest) {
  std::string ptx = kernelAround("mul.wide.u32 %m, %t, 16;\nadd.u64 %m, %m, %x;\n"
                                 "red.global.add.v4.f32 [%m], {%f1, %f2, %f3, %f4};\n");
  ptx.replace(ptx.find("8.0"), 3, "8.1");
  ptx.replace(ptx.find("sm_80"), 5, "sm_90");
  Gpu gpu(ptx, "sm_90a", "none");
  auto memory = gpu.upload(std::vector<uint8_t>(1024));
  gpu.device->setCounters(true);
  gpu.run("k", {1}, {32}, 0, memory);
  gpu.expectClean();
  const Counters counters = gpu.device->counters();
  EXPECT_EQ(counters.globalRequests, 1u);
  EXPECT_EQ(counters.globalSectors, 16u);
  EXPECT_EQ(counters.globalLines, 4u);
  EXPECT_EQ(counters.globalBytesUsed, 512u);
  EXPECT_EQ(counters.atomics, 4u * 32) << "each element is one of its own";
}

TEST(Counters, DistinctSectorsOfLaunchesThatStartAgain) {
  // Blocks write what others have read: with the race check they run once more, one after the other.
  Gpu gpu(kernelAround("ld.global.f32 %f1, [%l];\nst.global.f32 [%l], %f1;\n"), "sm_80", "race", 4);
  auto memory = gpu.upload(std::vector<uint8_t>(1024));
  gpu.device->setFindingSink([](const std::vector<Finding> &) {});
  gpu.device->setCounters(true);
  gpu.run("k", {3}, {32}, 0, memory);
  EXPECT_EQ(distinctOf(gpu.device->counters()), (Sectors{4, 4}));
}

TEST(Counters, LanesByLine) {
  std::string ptx = kernelAround("setp.lt.u32 %p, %t, 5;\n"
                                 "@!%p bra OTHER;\n"
                                 "add.f32 %f1, %f2, %f3;\n"
                                 "OTHER:\n"
                                 "@%p add.u32 %a, %t, 1;\n");
  auto counted = countRun(ptx, 64, 3); // in each block lanes 0..4 of the first warp take the branch
  const Counters &add = counted.byLine[lineOf(ptx, "add.f32")];
  EXPECT_EQ(add.warpInstructions, 3u);
  EXPECT_EQ(add.activeLanes, 15u);
  EXPECT_EQ(add.meanActiveLanes(), 5.0);
  const Counters &guarded = counted.byLine[lineOf(ptx, "@%p add")];
  EXPECT_EQ(guarded.warpInstructions, 6u) << "the lanes are together again";
  EXPECT_EQ(guarded.activeLanes, 6u * 32);
  EXPECT_EQ(guarded.executedLanes, 15u);
  auto mix = [&](InstructionClass kind) { return counted.mix[static_cast<size_t>(kind)]; };
  EXPECT_EQ(mix(InstructionClass::Float), 3u);
  EXPECT_EQ(mix(InstructionClass::Integer), 3u * 6); // mul, add and the guarded add of each warp
  EXPECT_EQ(mix(InstructionClass::Compare), 6u);
  EXPECT_EQ(mix(InstructionClass::Move), 6u);
  EXPECT_EQ(mix(InstructionClass::ParamMemory), 6u);
  EXPECT_EQ(mix(InstructionClass::Control), 12u);
}

TEST(Counters, BarriersAtomicsCopiesAndProducts) {
  std::string ptx = kernelAround("mov.u32 %at, s;\n"
                                 "cp.async.ca.shared.global [%at], [%x], 4;\n"
                                 "cp.async.commit_group;\ncp.async.wait_group 0;\n"
                                 "bar.sync 0;\n"
                                 "atom.global.add.u32 %a, [%x], 1;\n"
                                 "red.shared.add.u32 [s+64], 1;\n"
                                 "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, "
                                 "%f2, %f3}, {%a, %b, %c, %d}, {%a, %b}, "
                                 "{%f4, %f5, %f6, %f7};\n");
  auto counted = countRun(ptx, 128);
  EXPECT_EQ(counted.all.asyncBytes, 128u * 4);
  EXPECT_EQ(counted.byLine[lineOf(ptx, "cp.async.ca")].asyncBytes, 128u * 4);
  EXPECT_EQ(counted.all.atomics, 256u);
  EXPECT_EQ(counted.byLine[lineOf(ptx, "red.shared")].atomics, 128u);
  EXPECT_EQ(counted.all.barriers, 1u);
  EXPECT_EQ(counted.byLine[lineOf(ptx, "bar.sync")].waits, 3u) << "the last warp does not wait";
  EXPECT_EQ(counted.all.mma, 4u);
  EXPECT_EQ(counted.all.macs, 4u * 16 * 8 * 16);
  EXPECT_EQ(counted.all.sharedTouched, 68u);
}

TEST(Counters, BulkCopiesMoveBytesIntoSharedMemory) {
  Gpu gpu(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .pred %p;
  .reg .b64 %x, %state;
  .shared .align 8 .b64 full;
  .shared .align 128 .b8 tile[4096];
  ld.param.u64 %x, [x];
  mbarrier.init.shared::cta.b64 [full], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 %state, [full], 2048;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%x], 2048, [full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [full], 0;
  @!%p bra WAIT;
  ret;
}
)",
          "sm_90a");
  auto memory = gpu.upload(std::vector<uint8_t>(2048));
  gpu.device->setCounters(true);
  gpu.run("k", {3}, {1}, 0, memory);
  gpu.expectClean();
  EXPECT_EQ(gpu.device->counters().asyncBytes, 3u * 2048);
  EXPECT_EQ(distinctOf(gpu.device->counters()), (Sectors{2048 / 32, 0}));
  EXPECT_EQ(gpu.device->counters().sharedTouched, 128u + 2048)
      << "the tile comes after the barrier";
  InstructionMix mix = mixOf(gpu.device->countersByLine());
  EXPECT_EQ(mix[static_cast<size_t>(InstructionClass::AsyncCopy)], 3u);
}

TEST(Counters, DoNotDependOnHostThreads) {
  std::string ptx =
      kernelAround("ld.global.f32 %f1, [%l];\nmul.f32 %f1, %f1, %f1;\nst.global.f32 [%l], %f1;\n");
  auto one = countRun(ptx, 256, 37, 1), four = countRun(ptx, 256, 37, 4);
  ASSERT_EQ(one.byLine.size(), four.byLine.size());
  for (auto &[line, counters] : one.byLine) {
    EXPECT_EQ(counters.warpInstructions, 37u * 8);
    EXPECT_EQ(counters.warpInstructions, four.byLine[line].warpInstructions);
    EXPECT_EQ(counters.globalSectors, four.byLine[line].globalSectors);
  }
  EXPECT_EQ(one.all.sectorEfficiency(), 1.0);
}

TEST(Counters, AreOffUntilAskedFor) {
  Gpu gpu(kernelAround("bar.sync 0;\n"));
  auto memory = gpu.upload(std::vector<uint8_t>(256));
  gpu.run("k", {2}, {32}, 0, memory);
  EXPECT_TRUE(gpu.device->countersByLine().empty());
  EXPECT_EQ(gpu.device->counters().warpInstructions, 0u);
  EXPECT_EQ(gpu.device->statistics().warpInstructions, 2u * 6);
}

} // namespace
} // namespace tile::vgpu
