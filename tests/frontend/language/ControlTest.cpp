// Staged control flow: which variables are carried, what a body reads first, and how traps of C++
// are caught.
#include "tests/frontend/Trace.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>

using namespace tile;
using namespace tile::test;

static_assert(std::is_same_v<decltype(range(1).stages(3)), Range>,
              "a returned reference would dangle in a range-for");
static_assert(std::is_same_v<decltype(range(1).unroll(2)), Range>);
static_assert(std::is_same_v<decltype(Const(2) * Const(3)), int>);
static_assert(std::is_same_v<decltype(cdiv(Const(2), Const(3))), int>);
static_assert(cdiv(Const(130), Const(64)) == 3 && cdiv(130, 64u) == 3 && max(Const(3), 4) == 4 &&
              min(3u, 4) == 3);

TEST(Control, OnlyWrittenVariablesAreCarried) {
  auto loops = kernel("loops", [](Out<f32, 1> y, Scalar<i32> n) {
    auto sum = var(zeros(f32, {32}));
    auto scale = var(full(f32, {32}, 2.0));
    for (auto i : range(n))
      sum = sum + scale + cast(f32, i);
    y.tile({32})(0) = sum;
  });
  std::string ir = irOf(loops);
  EXPECT_NE(ir.find("iter_args(%arg3 = "), std::string::npos) << ir;
  EXPECT_NE(ir.find("-> (tensor<32xf32>)  : i32"), std::string::npos) << ir;
}

TEST(Control, AReadBeforeTheWriteSeesThePreviousRound) {
  auto fibonacci = kernel("fibonacci", [](Out<i32, 1> y) {
    auto a = var(0), b = var(1);
    for ([[maybe_unused]] auto i : range(10)) {
      Value next = a.get() + b.get();
      a = b;
      b = next;
    }
    y.tile({1})(0) = a;
  });
  std::string ir = irOf(fibonacci);
  // Carried (a, b) yields (b, a + b).
  EXPECT_NE(ir.find("iter_args(%arg2 = %c0_i32_0, %arg3 = %c1_i32_1)"), std::string::npos) << ir;
  EXPECT_NE(ir.find("%2 = arith.addi %arg2, %arg3 : i32\n      scf.yield %arg3, %2"),
            std::string::npos)
      << ir;
}

TEST(Control, VariablesInAVector) {
  auto vectors = kernel("vectors", [](In<f32, 1> x, Out<f32, 1> y, Scalar<i32> n, Const N) {
    std::vector<Var> sums;
    for (int i = 0; i < N; ++i)
      sums.push_back(var(zeros(f32, {32})));
    for (auto k : range(n))
      for (int i = 0; i < N; ++i)
        sums[i] += x.tile({32})(k * N + i);
    for (int i = 0; i < N; ++i)
      y.tile({32})(i) = sums[i];
  });
  std::string ir = irOf(vectors, {3});
  EXPECT_NE(ir.find("-> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)"), std::string::npos)
      << ir;
}

TEST(Control, NestedLoopsCarryThroughBoth) {
  auto nested = kernel("nested", [](Out<i32, 1> y, Scalar<i32> n) {
    auto total = var(0);
    for (auto i : range(n))
      for (auto j : range(i, n))
        total += j;
    y.tile({1})(0) = total;
  });
  std::string ir = irOf(nested);
  EXPECT_EQ(count(ir, "iter_args("), 2) << ir;
  EXPECT_EQ(count(ir, "scf.yield"), 2);
}

TEST(Control, BranchesYieldTheValueBeforeWhereTheyDoNotWrite) {
  auto branch = kernel("branch", [](Out<i32, 1> y, Scalar<i32> n) {
    auto a = var(1), b = var(2);
    if_(n > 0, [&] { a = 10; }).else_([&] { b = a + 20; });
    y.tile({1})(0) = a + b;
  });
  std::string ir = irOf(branch);
  EXPECT_NE(ir.find("scf.if"), std::string::npos);
  EXPECT_NE(ir.find("-> (i32, i32)"), std::string::npos) << ir;
  EXPECT_EQ(count(ir, "scf.yield"), 2);
  // In the else branch `a` is the value from before the if_, not the then branch's.
  EXPECT_NE(ir.find("arith.addi %c1_i32, %c20_i32"), std::string::npos) << ir;
}

TEST(Control, ABranchWithElseMayBeTheFirstToTouchAVarInItsLoop) {
  auto choose = kernel("choose", [](Out<i32, 1> y, Scalar<i32> n) {
    auto last = var(0);
    for (auto i : range(n))
      if_(i > 2, [&] { last = 7; }).else_([] {});
    y.tile({1})(0) = last;
  });
  std::string ir = irOf(choose);
  EXPECT_EQ(count(ir, "iter_args("), 1) << ir;
  EXPECT_EQ(count(ir, "scf.yield"), 3) << ir;
}

TEST(Control, AnIfInALoop) {
  auto both = kernel("both", [](In<i32, 1> x, Out<i32, 1> y, Scalar<i32> n) {
    auto best = var(0);
    for (auto i : range(n)) {
      Value here = reshape(x.tile({1})(i), {1});
      Value total = sum(here, 0);
      if_(total > best, [&] { best = total; });
    }
    y.tile({1})(0) = best;
  });
  std::string ir = irOf(both);
  EXPECT_EQ(count(ir, "iter_args("), 1) << ir;
  EXPECT_EQ(count(ir, "scf.if"), 1);
  EXPECT_EQ(count(ir, "scf.yield"), 3);
}

TEST(Control, WhileCarriesThroughConditionAndBody) {
  auto collatz = kernel("collatz", [](Out<i32, 1> y, Scalar<i32> start) {
    auto n = var(start), steps = var(0);
    while_([&] { return n != 1; },
           [&] {
             n = select((n & 1) == 0, n >> 1, n * 3 + 1);
             steps += 1;
           });
    y.tile({1})(0) = steps;
  });
  std::string ir = irOf(collatz);
  EXPECT_NE(ir.find("scf.while"), std::string::npos);
  EXPECT_NE(ir.find("scf.condition("), std::string::npos);
  EXPECT_NE(ir.find("(i32, i32) -> (i32, i32)"), std::string::npos) << ir;
}

TEST(Control, AWhileInALoopWithStores) {
  auto mixed = kernel("mixed", [](InOut<i32, 1> y, Scalar<i32> n) {
    auto k = var(0);
    for (auto i : range(0, n, 2)) {
      while_([&] { return k < i; }, [&] { k += 1; });
      y.tile({1})(i) = k;
    }
  });
  std::string ir = irOf(mixed);
  EXPECT_NE(ir.find("scf.while"), std::string::npos);
  EXPECT_EQ(count(ir, "iter_args("), 1) << ir;
}

TEST(Control, ANegativeConstantStepCountsDown) {
  auto down = kernel("down", [](Out<i32, 1> y, Scalar<i32> n) {
    for (auto i : range(n, 0, -2))
      y.tile({1})(i) = i;
  });
  std::string ir = irOf(down);
  EXPECT_NE(ir.find("arith.addi %arg1"), std::string::npos) << ir;
  EXPECT_NE(ir.find("arith.constant -2 : i32"), std::string::npos) << ir;
}

TEST(Control, PlainLoopsUnroll) {
  auto unrolled = kernel("unrolled", [](In<f32, 1> x, Out<f32, 1> y, Const N) {
    Value sum = x.tile({32})(0);
    for (int i = 1; i < N; ++i)
      sum = sum + x.tile({32})(i);
    y.tile({32})(0) = sum;
  });
  EXPECT_EQ(count(irOf(unrolled, {5}), "tile.view_load"), 5);
}

TEST(Control, AThrowInAStagedLoopLeavesTheTracerClean) {
  auto throws = kernel("throws", [](Out<i32, 1> y) {
    auto a = var(1);
    try {
      for ([[maybe_unused]] auto i : range(10)) {
        a = 2;
        if_(program_id(0) > 0, [&] { throw std::runtime_error("user's own"); });
      }
    } catch (const std::runtime_error &) {
      a += 40;
    }
    y.tile({1})(0) = a;
  });
  std::string ir = irOf(throws);
  EXPECT_EQ(count(ir, "scf.for"), 0) << "the abandoned loop is gone";
  EXPECT_NE(ir.find("arith.addi %c1_i32, %c40_i32"), std::string::npos) << ir;
}

TEST(Control, AThrowOutOfAKernelLeavesNoTrace) {
  auto throws = kernel("throws", [](Out<i32, 1>) {
    for ([[maybe_unused]] auto i : range(10))
      throw std::runtime_error("user's own");
  });
  EXPECT_THROW(irOf(throws), std::runtime_error);
  EXPECT_THROW(program_id(0), Error) << "no kernel is being traced any more";
  auto fine = kernel("fine", [](Out<i32, 1> y) { y.tile({1})(0) = 1; });
  EXPECT_NE(irOf(fine).find("tile.view_store"), std::string::npos);
}

TEST(Control, HostNumbersMixWithConstantsWithoutAmbiguity) {
  auto mixes = kernel("mixes", [](Out<f32, 1> y, Const B) {
    Value t = zeros(f32, {B}) + 3u + B + 2ull + 1.5 - B * 2u;
    Value i = program_id(0) * B + B * 3u - 1l;
    Value c = 3u < i;
    if (B * 2 == 64 && B > 3)
      y.tile({B})(select(c, i, B)) = t * (B + 1);
  });
  EXPECT_NE(irOf(mixes, {32}).find("tile.view_store"), std::string::npos);
}

TEST(Control, ALongUnrolledChainDoesNotOverflowTheStack) {
  auto chain = kernel("chain", [](Out<f32, 1> y) {
    Value x = zeros(f32, {1});
    for (int i = 0; i < 100'000; ++i)
      x = x * x;
    y.tile({1})(0) = x;
  });
  EXPECT_EQ(count(irOf(chain), "arith.mulf"), 100'000);
}
