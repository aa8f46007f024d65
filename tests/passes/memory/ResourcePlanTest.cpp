// Offsets in shared memory: allocations whose contents matter at the same time do not overlap,
// others share bytes.
#include "passes/memory/ResourcePlan.h"

#include "ir/Context.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace mlir;

namespace tile::passes {
namespace {

class ResourcePlanTest : public ::testing::Test {
protected:
  /// A function with this body; %c is an i1, %n an i32.
  func::FuncOp functionOf(const std::string &body) {
    std::string text =
        "#l = #tilegpu.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>\n"
        "#s = #tilegpu.shared<panel = [5], linear = [1, 2, 4, 8, 16], digits = [32]>\n"
        "func.func @f(%x: tensor<32xf32, #l>, %c: i1, %n: i32) {\n" +
        body + "return\n}\n";
    module = parseSourceString<ModuleOp>(text, context.get());
    if (!module) {
      ADD_FAILURE() << text;
      module = ModuleOp::create(UnknownLoc::get(context.get()));
      return func::FuncOp::create(UnknownLoc::get(context.get()), "f",
                                  FunctionType::get(context.get(), {}, {}));
    }
    return *module->getOps<func::FuncOp>().begin();
  }
  ResourcePlan planOf(const std::string &body) { return ResourcePlan(functionOf(body)); }

  static std::string alloc(const std::string &name) {
    return name + " = tilegpu.smem_alloc : " + kSmem + "\n";
  }
  static std::string store(const std::string &name) {
    return "tilegpu.smem_store %x, " + name + " : tensor<32xf32, #l>, " + kSmem + "\n";
  }
  static std::string load(const std::string &name) {
    return "%v" + std::to_string(loads++) + " = tilegpu.smem_load " + name + " : " + kSmem +
           " -> tensor<32xf32, #l>\n";
  }

  static inline const std::string kSmem = "!tilegpu.smem<32xf32, #s>";
  static inline int loads = 0;
  std::unique_ptr<MLIRContext> context = ir::makeContext();
  OwningOpRef<ModuleOp> module;
};

/// How many allocations share a byte.
bool overlap(const SharedAllocation &a, const SharedAllocation &b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

TEST_F(ResourcePlanTest, NothingNeedsNothing) {
  ResourcePlan plan = planOf("");
  EXPECT_TRUE(plan.allocations().empty());
  EXPECT_EQ(plan.sharedBytes(), 0);
}

TEST_F(ResourcePlanTest, OneAfterTheOtherShareBytes) {
  ResourcePlan plan =
      planOf(alloc("%a") + alloc("%b") + store("%a") + load("%a") + store("%b") + load("%b"));
  ASSERT_EQ(plan.allocations().size(), 2u);
  EXPECT_EQ(plan.allocations()[0].offset, 0);
  EXPECT_EQ(plan.allocations()[1].offset, 0);
  EXPECT_EQ(plan.sharedBytes(), 128);
}

TEST_F(ResourcePlanTest, AliveTogetherDoNot) {
  ResourcePlan plan =
      planOf(alloc("%a") + alloc("%b") + store("%a") + store("%b") + load("%a") + load("%b"));
  EXPECT_FALSE(overlap(plan.allocations()[0], plan.allocations()[1]));
  EXPECT_EQ(plan.sharedBytes(), 256);
}

// Within the loop %a is stored before %b and read before it; but the next iteration comes back to
// %a.
TEST_F(ResourcePlanTest, ALoopCountsAsAWholeForWhatIsMadeBeforeIt) {
  std::string loop = "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
                     "scf.for %i = %c0 to %n step %c1 : i32 {\n";
  ResourcePlan outside = planOf(alloc("%a") + alloc("%b") + store("%a") + loop + load("%a") +
                                store("%b") + load("%b") + "}\n");
  EXPECT_FALSE(overlap(outside.allocations()[0], outside.allocations()[1]));
  ResourcePlan inside = planOf(loop + alloc("%a") + alloc("%b") + store("%a") + load("%a") +
                               store("%b") + load("%b") + "}\n");
  EXPECT_EQ(inside.sharedBytes(), 128);
}

TEST_F(ResourcePlanTest, BranchesShareBytes) {
  ResourcePlan plan = planOf("scf.if %c {\n" + alloc("%a") + store("%a") + load("%a") +
                             "} else {\n" + alloc("%b") + store("%b") + load("%b") + "}\n");
  EXPECT_EQ(plan.sharedBytes(), 128);
}

TEST_F(ResourcePlanTest, WhoReadsASlotReadsItsAllocation) {
  func::FuncOp function = functionOf("%a = tilegpu.smem_alloc stages 2 : " + kSmem + "\n" +
                                     alloc("%b") + store("%a") + store("%b") + load("%b"));
  auto a = *function.getOps<gpu::SmemAllocOp>().begin();
  EXPECT_EQ(ResourcePlan(function).sharedBytes(), 256);
  Operation *end = function.getBody().front().getTerminator();
  OpBuilder builder(end);
  Value stage = gpu::SmemStageOp::create(builder, end->getLoc(), a, function.getArgument(2));
  Value tile = function.getArgument(0);
  gpu::SmemLoadOp::create(builder, end->getLoc(), tile.getType(), stage);
  EXPECT_EQ(ResourcePlan(function).sharedBytes(), 256 + 128);
}

TEST_F(ResourcePlanTest, OneThatNobodyUsesIsAliveNowhere) {
  ResourcePlan plan = planOf(alloc("%a") + alloc("%b") + store("%b") + load("%b"));
  EXPECT_EQ(plan.sharedBytes(), 128);
}

// Random programs: stores and loads in any order, some of them in loops.
RC_GTEST_FIXTURE_PROP(ResourcePlanTest, AliveTogetherNeverOverlap, ()) {
  auto count = *rc::gen::inRange(1, 8);
  auto uses = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, count));
  auto loopAt = *rc::gen::inRange<size_t>(0, uses.size() + 1);
  std::string body = "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n";
  for (int i = 0; i < count; ++i)
    body += alloc("%a" + std::to_string(i));
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i == loopAt)
      body += "scf.for %i = %c0 to %n step %c1 : i32 {\n";
    body += i % 2 ? load("%a" + std::to_string(uses[i])) : store("%a" + std::to_string(uses[i]));
  }
  if (loopAt < uses.size())
    body += "}\n";
  ResourcePlan plan = planOf(body);
  RC_ASSERT(plan.allocations().size() == static_cast<size_t>(count));
  // Alive from the first to the last use; whoever is used in the loop, during all of it.
  auto range = [&](int which) {
    std::pair<size_t, size_t> alive{uses.size(), 0};
    for (size_t i = 0; i < uses.size(); ++i)
      if (uses[i] == which) {
        alive.first = std::min(alive.first, i >= loopAt ? loopAt : i);
        alive.second = std::max(alive.second, i >= loopAt ? uses.size() : i);
      }
    return alive;
  };
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < i; ++j) {
      auto [firstI, lastI] = range(i);
      auto [firstJ, lastJ] = range(j);
      const SharedAllocation &a = plan.allocations()[i], &b = plan.allocations()[j];
      bool areUsed = llvm::is_contained(uses, i) && llvm::is_contained(uses, j);
      RC_ASSERT(!(areUsed && firstI <= lastJ && firstJ <= lastI) || !overlap(a, b));
      RC_ASSERT(a.offset + a.bytes <= plan.sharedBytes() && a.offset % 128 == 0);
    }
}

} // namespace
} // namespace tile::passes
