// OrderTrace: the IR depends on statements' effects and on the structure of expressions, not on the
// order in which operands were recorded; and no read moves over a write that it may see.
#include "tests/frontend/Trace.h"

#include <gtest/gtest.h>

using namespace tile;
using namespace tile::test;

TEST(Ordering, OperandsRecordedInEitherOrderGiveOneIr) {
  auto leftFirst = kernel("k", [](In<f32, 1> x, In<f32, 1> y, InOut<f32, 1> z) {
    Value i = program_id(0);
    Value a = exp(x.tile({64})(i)), b = y.tile({64})(i) * 2.0, c = z.tile({64})(i);
    z.tile({64})(i) = a + b * c;
  });
  auto rightFirst = kernel("k", [](In<f32, 1> x, In<f32, 1> y, InOut<f32, 1> z) {
    Value i = program_id(0);
    Value c = z.tile({64})(i), b = y.tile({64})(i) * 2.0, a = exp(x.tile({64})(i));
    z.tile({64})(i) = a + b * c;
  });
  EXPECT_EQ(irOf(leftFirst), irOf(rightFirst));
}

TEST(Ordering, InsideLoopsToo) {
  auto leftFirst = kernel("k", [](In<f16, 2> x, In<f16, 2> y, Out<f32, 2> z, Scalar<i32> n) {
    auto acc = var(zeros(f32, {32, 32}));
    for (auto k : range(n)) {
      Value a = x.tile({32, 32})(0, k), b = y.tile({32, 32})(k, 0);
      acc = dot(a, b, acc);
    }
    z.tile({32, 32})(0, 0) = acc;
  });
  auto rightFirst = kernel("k", [](In<f16, 2> x, In<f16, 2> y, Out<f32, 2> z, Scalar<i32> n) {
    auto acc = var(zeros(f32, {32, 32}));
    for (auto k : range(n)) {
      Value b = y.tile({32, 32})(k, 0), a = x.tile({32, 32})(0, k);
      acc = dot(a, b, acc);
    }
    z.tile({32, 32})(0, 0) = acc;
  });
  EXPECT_EQ(irOf(leftFirst), irOf(rightFirst));
}

/// The IR's lines that touch memory, in order: "load 0" is a read of argument 0, "store 1" a write
/// of argument 1.
static std::string accesses(const std::string &ir) {
  std::string text;
  for (size_t at = ir.find("tile.view_"); at != std::string::npos;
       at = ir.find("tile.view_", at + 1)) {
    bool isLoad = ir.compare(at, 14, "tile.view_load") == 0;
    size_t argument = ir.find("%arg", at);
    text +=
        (text.empty() ? "" : ", ") + std::string(isLoad ? "load " : "store ") + ir[argument + 4];
  }
  return text;
}

TEST(Ordering, AReadStaysBeforeTheWriteThatFollowsIt) {
  auto swap = kernel("swap", [](InOut<f32, 1> x) {
    Value first = x.tile({8})(0), second = x.tile({8})(1);
    x.tile({8})(0) = second;
    x.tile({8})(1) = first;
  });
  EXPECT_EQ(accesses(irOf(swap)), "load 0, load 0, store 0, store 0");
}

TEST(Ordering, AReadStaysAfterTheWriteBeforeIt) {
  auto chain = kernel("chain", [](InOut<f32, 1> x) {
    x.tile({8})(0) = x.tile({8})(1);
    x.tile({8})(2) = x.tile({8})(0);
  });
  EXPECT_EQ(accesses(irOf(chain)), "load 0, store 0, load 0, store 0");
}

TEST(Ordering, ReadsOfOtherArgumentsMoveToTheirUse) {
  auto lazy = kernel("lazy", [](In<f32, 1> x, InOut<f32, 1> y) {
    Value early = x.tile({8})(0);
    y.tile({8})(0) = 1;
    y.tile({8})(1) = early;
  });
  EXPECT_EQ(accesses(irOf(lazy)), "store 1, load 0, store 1");
}

TEST(Ordering, AReadStaysBeforeALoopThatWrites) {
  auto shift = kernel("shift", [](InOut<f32, 1> x, Scalar<i32> n) {
    Value saved = x.tile({8})(0);
    for (auto i : range(n))
      x.tile({8})(i) = 0;
    x.tile({8})(9) = saved;
  });
  std::string ir = irOf(shift);
  EXPECT_EQ(accesses(ir), "load 0, store 0, store 0");
  EXPECT_LT(ir.find("tile.view_load"), ir.find("scf.for")) << ir;
}

TEST(Ordering, PointersOfUnknownOriginAliasEverything) {
  auto unknown = kernel("unknown", [](InOut<f32, 1> x, InOut<f32, 1> y, Scalar<i1> c) {
    Value before = x.tile({1})(0);
    store(select(c, x.ptr(), y.ptr()), 1.0f);
    y.tile({1})(0) = before;
  });
  std::string ir = irOf(unknown);
  EXPECT_LT(ir.find("tile.view_load"), ir.find("tile.store ")) << ir;
}

TEST(Ordering, WhatNothingNeedsIsDropped) {
  auto dead = kernel("dead", [](In<f32, 1> x, Out<f32, 1> y) {
    [[maybe_unused]] Value unused = exp(x.tile({8})(0));
    y.tile({8})(0) = 1;
  });
  EXPECT_EQ(accesses(irOf(dead)), "store 1");
  EXPECT_EQ(irOf(dead).find("math.exp"), std::string::npos);
}
