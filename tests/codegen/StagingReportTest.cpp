// What a report says of software pipelines: loops, stages of shared memory and the copies that fill them.
#include "codegen/report/MakeReport.h"

#include "ir/Context.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace tile;
using namespace tile::codegen;

namespace {

constexpr const char *kPrefix = R"(
#s = #tilegpu.shared<panel = [4, 6], linear = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], digits = [1024, 1024]>
#l = #tilegpu.layout<register = [[0, 1], [0, 2], [0, 4], [4, 0], [8, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [HOLDERS]>
!memory = !tilegpu.smem<16x64xf16, #s>
)";

// Two fills before the loop, one in each iteration.
constexpr const char *kCopies = R"(
func.func @copies(%x: !tile.ptr<f16> {tile.name = "x"}, %n: i32, %p: i1) attributes {tile.kernel, tile.warps = WARPS : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tile.make_view %x, extents [%n, %n], strides [%c64, %c1] : i32 -> !tile.view<2xf16>
  %m = tilegpu.smem_alloc stages 3 {offset = 0 : i32} : !memory
  %first = tilegpu.smem_stage %m at %c0 : !memory
  tilegpu.copy_async %v[%c0, %c0], %first shape [16, 64]
    {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, element]>, tilegpu.variant = #tilegpu.load<cp_async>} : !tile.view<2xf16>, !memory
  tilegpu.async_commit
  tilegpu.async_commit
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.async_wait 1
    tilegpu.barrier
    %stage = tilegpu.smem_stage %m at %i : !memory
    tilegpu.copy_async %v[%i, %c0], %stage shape [16, 64] if %p
      {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, element]>, tilegpu.variant = #tilegpu.load<cp_async>} : !tile.view<2xf16>, !memory
    %y = tilegpu.smem_load %stage : !memory -> tensor<16x64xf16, #l>
    scf.for %j = %c0 to %n step %c1 : i32 {
      tilegpu.barrier
    }
    tilegpu.async_commit
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 0, stages = 3, reason = "by default">}
  return
})";

// A tile that reaches the stages through registers, and the branch that leaves its load out.
constexpr const char *kStores = R"(
func.func @stores(%x: !tile.ptr<f16>, %n: i32, %p: i1) attributes {tile.kernel, tile.warps = WARPS : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x64xf16, #l>
  %v = tile.make_view %x, extents [%n, %n], strides [%n, %c1] : i32 -> !tile.view<2xf16>
  %m = tilegpu.smem_alloc stages 2 {offset = 0 : i32} : !memory
  %first = tilegpu.smem_stage %m at %c0 : !memory
  %a = scf.if %p -> tensor<16x64xf16, #l> {
    %load = tile.view_load %v[%c0, %c0] {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>} : !tile.view<2xf16> -> tensor<16x64xf16, #l>
    scf.yield %load : tensor<16x64xf16, #l>
  } else {
    scf.yield %zero : tensor<16x64xf16, #l>
  }
  tilegpu.smem_store %a, %first : tensor<16x64xf16, #l>, !memory
  scf.for %i = %c0 to %n step %c1 : i32 {
    tilegpu.barrier
    %stage = tilegpu.smem_stage %m at %i : !memory
    %y = tilegpu.smem_load %stage : !memory -> tensor<16x64xf16, #l>
    %b = tile.view_load %v[%i, %c0] {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 8, bounds = [none, none]>} : !tile.view<2xf16> -> tensor<16x64xf16, #l>
    tilegpu.smem_store %b, %stage : tensor<16x64xf16, #l>, !memory
  } {tilegpu.loop_plan = #tilegpu.loop_plan<asked = 5, stages = 2, reason = "more do not fit in shared memory">}
  return
})";

// Fewer elements than threads.
constexpr const char *kFew = R"(
#t = #tilegpu.shared<panel = [2, 3], linear = [1, 2, 4, 8, 16], digits = [32, 32]>
func.func @few(%x: !tile.ptr<f32>, %n: i32) attributes {tile.kernel, tile.warps = WARPS : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.make_view %x, extents [%n, %n], strides [%n, %c1] : i32 -> !tile.view<2xf32>
  %m = tilegpu.smem_alloc {offset = 0 : i32} : !tilegpu.smem<4x8xf32, #t>
  tilegpu.copy_async %v[%c0, %c0], %m shape [4, 8]
    {tilegpu.access = #tilegpu.access<order = [1, 0], vector = 4, bounds = [none, none]>} : !tile.view<2xf32>, !tilegpu.smem<4x8xf32, #t>
  return
})";

class StagingReport : public testing::Test {
protected:
  // All warps hold the same elements of tiles in registers.
  void read(const std::string &text, int warpBits = 0) {
    std::string holders = warpBits ? "[0, 0]" : "";
    for (int i = 1; i < warpBits; ++i)
      holders += ", [0, 0]";
    std::string whole = kPrefix + text;
    whole.replace(whole.find("HOLDERS"), 7, holders);
    whole.replace(whole.find("WARPS"), 5, std::to_string(1 << warpBits));
    context = ir::makeContext();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(whole, context.get());
    if (!module)
      throw std::invalid_argument("the text does not parse");
    report = makeReport(*module->getOps<mlir::func::FuncOp>().begin());
  }

  std::unique_ptr<mlir::MLIRContext> context;
  KernelReport report;
};

TEST_F(StagingReport, LoopsHaveStagesBarriersAndGroups) {
  read(kCopies);
  ASSERT_EQ(report.loops.size(), 1u);
  const LoopReport &loop = report.loops[0];
  EXPECT_EQ(loop.stagesAsked, 0);
  EXPECT_EQ(loop.stages, 3);
  EXPECT_EQ(loop.reason, "by default");
  EXPECT_EQ(loop.barriers, 1) << "those of the inner loop are its own";
  EXPECT_EQ(loop.groupsInFlight, 1);
}

TEST_F(StagingReport, CopiesCountOnceAnIteration) {
  read(kCopies);
  ASSERT_EQ(report.copies.size(), 1u) << "fills before the loop stand for its last iterations";
  const CopyReport &copy = report.copies[0];
  EXPECT_EQ(copy.kind + " " + copy.tile + " " + copy.dtype, "load 16x64 f16");
  EXPECT_EQ(copy.variant, "cp_async");
  EXPECT_EQ(copy.vectorBytes, 16);
  EXPECT_EQ(copy.checks, (std::vector<std::string>{"none", "each element"}));
  EXPECT_EQ(copy.traffic.accesses, 4);
  EXPECT_EQ(copy.traffic.usedBytes, 2048);
  EXPECT_EQ(copy.traffic.efficiency(), 1);
  ASSERT_EQ(report.work.size(), 3u);
  EXPECT_EQ(report.work[0].bytesRead, 0);
  // The load runs ahead where there is such an iteration: in a branch of the loop.
  int64_t inLoop = 0;
  for (const WorkScope &scope : report.work)
    inLoop += scope.parent >= 0 ? scope.bytesRead : 0;
  EXPECT_EQ(inLoop, 2048);
}

TEST_F(StagingReport, CopiesMeetBanks) {
  read(kCopies);
  ASSERT_EQ(report.sharedTransfers.size(), 2u);
  const SharedTransfer &copy = report.sharedTransfers[0];
  EXPECT_EQ(copy.kind + " " + copy.tile, "copy 16x64");
  EXPECT_EQ(copy.instruction, "16-byte cp.async");
  EXPECT_EQ(copy.instructions, 4);
  EXPECT_EQ(copy.idealWavefronts, 16); // 512 bytes each, 128 at once
  EXPECT_EQ(copy.conflicts(), 0);
}

TEST_F(StagingReport, ManyThreadsCopyFewBytesEach) {
  read(kCopies, 3); // 256 threads, 8 bytes for each
  EXPECT_EQ(report.copies[0].vectorBytes, 8);
  EXPECT_EQ(report.sharedTransfers[0].instruction, "8-byte cp.async");
  read(kCopies, 4);
  EXPECT_EQ(report.copies[0].vectorBytes, 4);
  EXPECT_EQ(report.copies[0].traffic.accesses, 16);
  EXPECT_EQ(report.sharedTransfers[0].instruction, "4-byte cp.async");
}

TEST_F(StagingReport, WarpsWithTheSameElementsCopyThemOnce) {
  read(kFew, 2);
  ASSERT_EQ(report.copies.size(), 1u);
  EXPECT_EQ(report.copies[0].traffic.accesses, 1);
  EXPECT_EQ(report.copies[0].traffic.usedBytes, 128);
  ASSERT_EQ(report.sharedTransfers.size(), 1u);
  EXPECT_EQ(report.sharedTransfers[0].instructions, 1);
  EXPECT_EQ(report.sharedTransfers[0].idealWavefronts, 1);
}

TEST_F(StagingReport, SlotsSayWhoFillsThem) {
  read(kCopies);
  ASSERT_EQ(report.allocations.size(), 1u);
  const AllocationReport &memory = report.allocations[0];
  EXPECT_EQ(memory.stages, 3);
  EXPECT_EQ(memory.bytes, 3 * 2048);
  EXPECT_EQ(memory.purpose, "tiles of a loop's loads");
  ASSERT_EQ(memory.filledBy.size(), 2u); // each line of the text is one of the source
  EXPECT_TRUE(memory.filledBy[0].starts_with("cp.async of argument 'x' at line "))
      << memory.filledBy[0];
  ASSERT_EQ(memory.readBy.size(), 1u);
  EXPECT_TRUE(memory.readBy[0].starts_with("loads into registers at line ")) << memory.readBy[0];
  EXPECT_TRUE(report.layoutChanges.empty());
}

TEST_F(StagingReport, StoresOfLoadsFillSlotsToo) {
  read(kStores);
  ASSERT_EQ(report.loops.size(), 1u);
  EXPECT_EQ(report.loops[0].stagesAsked, 5);
  EXPECT_EQ(report.loops[0].stages, 2);
  EXPECT_EQ(report.loops[0].groupsInFlight, std::nullopt);
  EXPECT_EQ(report.copies.size(), 1u);
  EXPECT_EQ(report.sharedTransfers.size(), 2u);
  EXPECT_EQ(report.work.front().bytesRead, 0); // what fills the first stage is left out
  EXPECT_EQ(report.work.back().kind, WorkScope::Kind::Loop);
  EXPECT_EQ(report.work.back().bytesRead, 2048);
  const AllocationReport &memory = report.allocations[0];
  ASSERT_EQ(memory.filledBy.size(), 2u);
  EXPECT_TRUE(memory.filledBy[0].starts_with("stores from registers of argument 1 at line "))
      << memory.filledBy[0];
}

} // namespace
