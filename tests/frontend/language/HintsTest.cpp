// Hints that depend on the GPU.
#include "tests/frontend/Trace.h"

#include <gtest/gtest.h>

using namespace tile;
using namespace tile::test;

namespace {

/// The IR, or the message of the error, of a kernel compiled for sm.
template <class F> std::string traced(F body, int sm) {
  auto k = kernel("k", body);
  frontend::Binding binding = frontend::bindingFor(k.record(), {});
  binding.target.sm = sm;
  try {
    return trace(k.record(), binding).ir;
  } catch (const Error &error) {
    return error.message();
  }
}

TEST(ByTarget, TheNearestThatIsNotAboveCounts) {
  auto body = [](Out<i32, 1> y) {
    hint::warps(hint::by_target({{90, 8}, {80, 4}}));
    hint::maxnreg(hint::by_target({{86, 64}, {80, 128}, {90, 255}}));
    int tile = hint::by_target({{80, 32}, {90, 64}});
    for (auto i : range(4).stages(hint::by_target({{80, 3}, {90, 5}})))
      y.tile({tile})(i) = 0;
  };
  auto expect = [&](int sm, const char *warps, const char *registers, const char *tile,
                    const char *stages) {
    std::string ir = traced(body, sm);
    for (const char *piece : {warps, registers, tile, stages})
      EXPECT_NE(ir.find(piece), std::string::npos) << sm << ": " << piece << "\n" << ir;
  };
  expect(80, "tile.warps = 4", "tile.maxnreg = 128", "tensor<32xi32>", "tile.stages = 3");
  expect(86, "tile.warps = 4", "tile.maxnreg = 64", "tensor<32xi32>", "tile.stages = 3");
  expect(89, "tile.warps = 4", "tile.maxnreg = 64", "tensor<32xi32>", "tile.stages = 3");
  expect(90, "tile.warps = 8", "tile.maxnreg = 255", "tensor<64xi32>", "tile.stages = 5");
}

TEST(ByTarget, WhatItRefuses) {
  EXPECT_EQ(traced(
                [](Out<i32, 1>) {
                  hint::warps(hint::by_target({{86, 4}, {90, 8}}));
                },
                80),
            "by_target: there is no number for sm 80, only for 86, 90: add {80, ...} or one below");
  EXPECT_EQ(traced(
                [](Out<i32, 1>) {
                  hint::warps(hint::by_target({{80, 4}, {80, 8}}));
                },
                90),
            "by_target: sm 80 has two numbers, 4 and 8");
  EXPECT_EQ(traced(
                [](Out<i32, 1>) {
                  hint::warps(hint::by_target({{80, 3}}));
                },
                90),
            "hint::warps: warps must be a power of two up to 32, got 3");
}

} // namespace
