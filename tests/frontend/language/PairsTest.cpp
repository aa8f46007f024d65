// Joining, splitting and mirroring, scans and sorting: what is traced, and what wrong uses say.
#include "tests/frontend/Trace.h"

#include <gtest/gtest.h>

using namespace tile;
using namespace tile::test;

namespace {

/// The first line of the error that tracing `lambda` ends with.
template <class F> std::string errorOf(F lambda) {
  try {
    irOf(kernel("wrong", lambda));
  } catch (const Error &error) {
    EXPECT_EQ(error.fault(), Fault::User);
    EXPECT_NE(std::string(error.file()).find("PairsTest.cpp"), std::string::npos) << error.what();
    return error.message();
  }
  return "no error";
}

TEST(Pairs, CatIsAJoinFoldedIntoItsDimension) {
  std::string ir = irOf(kernel("cat", [](In<f32, 2> x, Out<f32, 2> y) {
    Value tile = x.tile({8, 16})(0, 0);
    y.tile({16, 16})(0, 0) = cat(tile, tile + 1.0f);
  }));
  EXPECT_NE(ir.find("tile.join"), std::string::npos) << ir;
  EXPECT_NE(ir.find("[2, 0, 1] : tensor<8x16x2xf32> -> tensor<2x8x16xf32>"), std::string::npos)
      << ir;
  EXPECT_NE(ir.find("tensor<2x8x16xf32> -> tensor<16x16xf32>"), std::string::npos) << ir;
}

TEST(Pairs, JoinPromotesAndBroadcasts) {
  std::string ir = irOf(kernel("join", [](In<f16, 1> x, Out<f32, 3> y) {
    y.tile({4, 16, 2})(0, 0, 0) = join(x.tile({16})(0), zeros(f32, {4, 1}));
  }));
  EXPECT_NE(ir.find("tile.join"), std::string::npos) << ir;
  EXPECT_NE(ir.find("tensor<4x16xf32> -> tensor<4x16x2xf32>"), std::string::npos) << ir;
}

TEST(Pairs, WrongUsesAreNamed) {
  EXPECT_EQ(errorOf([](In<f32, 1> x, Out<f32, 1> y) {
              y.tile({4})(0) = full(f32, {4}, item(x.tile({4})(0)));
            }),
            "item: needs a tile of one element, got f32[4]: reduce it first");
  EXPECT_EQ(errorOf([](In<f32, 1> x) { split(x.tile({4})(0)); }),
            "split: the last dimension must have extent 2, got f32[4]: reshape it first");
  EXPECT_EQ(errorOf([](In<f32, 1>) { split(program_id(0)); }),
            "split: needs a tile, got a scalar, i32");
  EXPECT_EQ(errorOf([](In<f32, 1> x) { cat(x.tile({4})(0), x.tile({8})(0)); }),
            "cat: tiles differ in shape: 4 and 8");
  EXPECT_EQ(errorOf([](In<f32, 1> x) { cat(x.tile({48})(0), x.tile({48})(0)); }),
            "cat: the extent along dimension 0 must be a power of two, got f32[48]");
  EXPECT_EQ(errorOf([](In<f32, 1> x) { cat(x.tile({4})(0), x.tile({4})(0), 1); }),
            "cat: axis 1 is outside a rank of 1");
  EXPECT_EQ(errorOf([](In<f32, 1> x) { flip(x.tile({4})(0), 2); }),
            "flip: axis 2 is outside a rank of 1");
  EXPECT_EQ(errorOf([](In<f32, 1>) {
              join(zeros(f32, {1, 1, 1, 1, 1, 1, 1, 1}), 1.0f);
            }),
            "join: a tile has at most 8 dimensions, and f32[1x1x1x1x1x1x1x1] needs one more");
}

TEST(Scans, SumsWidenAndNameTheirDirection) {
  std::string ir = irOf(kernel("scan", [](In<i8, 2> x, Out<i32, 2> y) {
    y.tile({8, 16})(0, 0) = cumsum(x.tile({8, 16})(0, 0), -1, {.reverse = true});
  }));
  EXPECT_NE(ir.find("axis 1 reverse : tensor<8x16xi32> -> tensor<8x16xi32>"), std::string::npos)
      << ir;
}

TEST(Scans, WrongUsesAreNamed) {
  EXPECT_EQ(errorOf([](In<f32, 1> x) { cumsum(x.tile({4})(0), 1); }),
            "cumsum: axis 1 is outside a rank of 1");
  EXPECT_EQ(errorOf([](In<f32, 1>) { cumsum(program_id(0)); }),
            "cumsum: needs a tile, got a scalar, i32");
  EXPECT_EQ(errorOf([](In<f32, 1> x) {
              scan(x.tile({4})(0), 0, [](Value a, Value b) { return a < b; });
            }),
            "scan: the combine function must return f32, it returned i1");
  EXPECT_EQ(errorOf([](In<f32, 1> x) { xor_sum(x.tile({4})(0)); }),
            "xor_sum: needs integers, got f32[4]");
  EXPECT_EQ(errorOf([](In<f32, 1> x) { reduce_max(x.tile({4})(0), 0, {.dtype = f64}); }),
            "reduce_max: has no dtype to choose, cast the result to f64");
  EXPECT_EQ(errorOf([](In<f32, 1> x) { mean(x.tile({4})(0), 0, {.dtype = i32}); }),
            "mean: gives floats, got dtype i32");
}

TEST(Reductions, WithoutAnAxisGoOverAll) {
  std::string ir = irOf(kernel("all", [](In<f32, 2> x, Out<f32, 2> y) {
    y.tile({1, 1})(0, 0) = sum(x.tile({6, 5})(0, 0), std::nullopt, {.keep_dims = true});
  }));
  EXPECT_EQ(count(ir, "tile.reduce"), 2) << ir;
  EXPECT_NE(ir.find("-> tensor<1x1xf32>"), std::string::npos) << ir;
}

} // namespace
