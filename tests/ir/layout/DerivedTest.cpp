// Derived layouts follow index arithmetic: where an element goes is where its index says.
#include "ir/layout/Derived.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>

namespace tile::layout {
namespace {

using namespace test;

const std::vector<int64_t> kSizes{1, 2, 3, 4, 12};

void forAllSamples(int maxRank, const std::function<void(const Layout &)> &check) {
  for (const Shape &shape : allShapes(maxRank, kSizes)) {
    for (int64_t warps : {1, 4}) {
      for (const Layout &layout : sampleLayouts(shape, warps)) {
        SCOPED_TRACE(layout.toString());
        check(layout);
        if (testing::Test::HasFatalFailure())
          return;
      }
    }
  }
}

/// Every thread holds in `result` exactly the images of what it holds in `source`.
void expectNothingMoves(const Layout &source, const Layout &result,
                        const std::function<Coords(const Coords &)> &sourceOf) {
  ASSERT_TRUE(result.isSurjective());
  ASSERT_EQ(result.laneBits(), source.laneBits());
  ASSERT_EQ(result.warpBits(), source.warpBits());
  for (int32_t reg = 0; reg < result.numRegisters(); ++reg) {
    std::optional<int32_t> from = source.registerAt(sourceOf(result.apply(reg)));
    ASSERT_TRUE(from);
    for (int32_t warp = 0; warp < result.numWarps(); ++warp)
      for (int32_t lane = 0; lane < kLanesPerWarp; ++lane)
        ASSERT_EQ(source.apply(*from, lane, warp), sourceOf(result.apply(reg, lane, warp)));
  }
}

TEST(Derived, PermuteMovesNothing) {
  forAllSamples(3, [](const Layout &source) {
    for (const std::vector<int32_t> &order : someOrders(source.shape().size())) {
      expectNothingMoves(source, permute(source, order), [&](const Coords &coords) {
        Coords original(coords.size());
        for (size_t i = 0; i < order.size(); ++i)
          original[static_cast<size_t>(order[i])] = coords[i];
        return original;
      });
    }
  });
}

TEST(Derived, ExpandDimsThenBroadcastMovesNothing) {
  forAllSamples(2, [](const Layout &source) {
    for (int axis = 0; axis <= source.rank(); ++axis) {
      for (int64_t size : {1, 4, 6}) {
        Layout wide = broadcast(expandDims(source, axis), axis, size);
        ASSERT_EQ(wide.shape()[static_cast<size_t>(axis)], size);
        expectNothingMoves(source, wide, [&](Coords coords) {
          coords.erase(coords.begin() + axis);
          return coords;
        });
      }
    }
  });
}

TEST(Derived, ReducedLayoutHoldsEachResultWhereItsElementsAre) {
  forAllSamples(3, [](const Layout &source) {
    for (int axis = 0; axis < source.rank(); ++axis) {
      Layout reduced = reduceAxis(source, axis);
      ASSERT_TRUE(reduced.isSurjective());
      ASSERT_EQ(reduced.freeMask(In::Register), 0u);
      forEachPlace(source, [&](int32_t reg, int32_t lane, int32_t warp) {
        Coords coords = source.apply(reg, lane, warp);
        coords.erase(coords.begin() + axis);
        ASSERT_TRUE(reduced.registerAt(coords, lane, warp));
      });
    }
  });
}

TEST(Derived, BroadcastUndoneByReduceForRegisters) {
  forAllSamples(2, [](const Layout &source) {
    ASSERT_EQ(reduceAxis(broadcast(expandDims(source, 0), 0, 12), 0).toString(),
              reduceAxis(expandDims(source, 0), 0).toString());
  });
}

TEST(Derived, JoinedPutsTheHalvesIntoConsecutiveRegisters) {
  forAllSamples(2, [](const Layout &source) {
    Layout result = joined(source);
    forEachPlace(source, [&](int32_t reg, int32_t lane, int32_t warp) {
      Coords coords = source.apply(reg, lane, warp);
      for (int32_t half : {0, 1}) {
        Coords expected = coords;
        expected.push_back(half);
        ASSERT_EQ(result.apply(2 * reg + half, lane, warp), expected);
      }
    });
  });
}

/// Legal exactly if old and new digits (odd parts and the bits after them) line up.
bool oddFactorsStayOutermost(const Shape &from, const Shape &to) {
  // Positions, in elements, at which an odd factor sits: the stride of the odd digit and its size,
  // merged.
  auto odds = [](const Shape &shape) {
    std::vector<std::pair<int64_t, int64_t>> result;
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      SizeParts parts = splitSize(shape[d]);
      stride <<= parts.bits;
      if (parts.odd > 1 && !result.empty() && result.back().first * result.back().second == stride)
        result.back().second *= parts.odd;
      else if (parts.odd > 1)
        result.emplace_back(stride, parts.odd);
      stride *= parts.odd;
    }
    return result;
  };
  return odds(from) == odds(to);
}

TEST(Derived, ReshapeKeepsRowMajorIndicesOrRefuses) {
  std::vector<Shape> shapes = allShapes(3, kSizes);
  int legal = 0, refused = 0;
  for (const Shape &from : allShapes(2, kSizes)) {
    for (const Shape &to : shapes) {
      if (elementCount(from) != elementCount(to))
        continue;
      for (const Layout &source : sampleLayouts(from, 2)) {
        Refusal why;
        std::optional<Layout> result = reshape(source, to, &why);
        ASSERT_EQ(result.has_value(), oddFactorsStayOutermost(from, to)) << source.toString();
        ++(result ? legal : refused);
        if (!result) {
          ASSERT_NE((*why).find("odd factor"), std::string::npos);
          continue;
        }
        forEachPlace(source, [&](int32_t reg, int32_t lane, int32_t warp) {
          ASSERT_EQ(rowMajorIndex(from, source.apply(reg, lane, warp)),
                    rowMajorIndex(to, result->apply(reg, lane, warp)));
        });
      }
    }
  }
  EXPECT_GT(legal, 500);
  EXPECT_GT(refused, 100);
}

TEST(Derived, ReshapeNamesTheCounts) {
  Refusal why;
  EXPECT_FALSE(reshape(Layout::replicated({4, 6}, 1), {5, 5}, &why));
  EXPECT_EQ(*why, "reshape of 4x6 to 5x5 changes the number of elements from 24 to 25");
}

/// Each place of `whole` holds the element that the low bits give within a tile and the others among tiles.
static void expectRepeats(const Layout &whole, const Layout &inner, const Layout &outer) {
  int32_t registers = 1 << inner.registerBits(), lanes = 1 << inner.laneBits(),
          warps = 1 << inner.warpBits();
  for (int32_t reg = 0; reg < whole.numRegisters(); ++reg)
    for (int32_t lane = 0; lane < 1 << whole.laneBits();
         lane += 7) // some of the low and of the high bits
      for (int32_t warp = 0; warp < 1 << whole.warpBits(); ++warp) {
        Coords expected = inner.apply(reg % registers, lane % lanes, warp % warps);
        Coords tile = outer.apply(reg / registers, lane / lanes, warp / warps);
        for (size_t dim = 0; dim < expected.size(); ++dim)
          expected[dim] += static_cast<int32_t>(inner.shape()[dim]) * tile[dim];
        ASSERT_EQ(whole.apply(reg, lane, warp), expected);
      }
}

TEST(Derived, ProductRepeatsTheInnerLayout) {
  for (const Layout &inner : sampleLayouts({4, 8}, 2)) {
    for (const Layout &outer : sampleLayouts({6, 2}, 2)) {
      std::optional<Layout> whole = product(inner, outer);
      ASSERT_TRUE(whole);
      EXPECT_EQ(whole->shape(), (Shape{24, 16}));
      expectRepeats(*whole, inner, outer);
    }
  }
  EXPECT_FALSE(product(Layout::replicated({3}, 1), Layout::replicated({2}, 1)));
}

TEST(Derived, ComposeRenamesPlaces) {
  Layout outer = Layout::coalesced({32, 12}, {1, 0}, 2, 2);
  // Swap the lowest register bit with the lowest lane bit.
  std::vector<uint64_t> places = LinearMap::identity(outer.flatMap().numInputs()).columns();
  std::swap(places[0], places[static_cast<size_t>(outer.registerBits())]);
  Layout swapped = compose(outer, LinearMap(places),
                           {outer.registerBits(), outer.laneBits(), outer.warpBits(), 0});
  forEachPlace(outer, [&](int32_t reg, int32_t lane, int32_t warp) {
    EXPECT_EQ(swapped.apply((reg & ~1) | (lane & 1), (lane & ~1) | (reg & 1), warp),
              outer.apply(reg, lane, warp));
  });
}

// An accumulator of the tensor cores: a thread has two columns, its quad eight.
Layout accumulator() {
  Bases bases;
  bases[size_t(In::Register)] = {{0, 1}, {8, 0}, {0, 8}, {0, 16}, {0, 32}};
  bases[size_t(In::Lane)] = {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}};
  return *Layout::create({16, 64}, bases);
}

TEST(Derived, PartsAreWhatRegistersOfTheirOwnHold) {
  int parts = 0;
  forAllSamples(2, [&](const Layout &source) {
    for (int dim = 0; dim < source.rank(); ++dim)
      for (int64_t size : {1, 2, 4}) {
        std::optional<Layout> small = part(source, dim, size);
        if (!small)
          continue;
        auto at = static_cast<size_t>(dim);
        ASSERT_EQ(small->shape()[at], size);
        for (int64_t start = 0; start < source.shape()[at]; start += size, ++parts)
          expectNothingMoves(source, *small, [&](const Coords &coords) {
            Coords moved = coords;
            moved[at] += static_cast<int32_t>(start);
            return moved;
          });
      }
  });
  EXPECT_GT(parts, 1000);
}

TEST(Derived, ThereAreNoPartsThatThreadsShare) {
  Layout rows = *Layout::create(
      {8, 32}, {{{{4, 0}}, {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}}, {{1, 0}, {2, 0}}, {}}});
  EXPECT_TRUE(part(rows, 0, 4));
  EXPECT_FALSE(part(rows, 0, 2));  // of which each warp would have another one
  EXPECT_FALSE(part(rows, 1, 16)); // and each half of the lanes
  EXPECT_FALSE(part(rows, 0, 3));  // no power of two
  Layout diagonal = *Layout::create({2, 2}, {{{{1, 1}, {0, 1}}, {}, {}, {}}});
  EXPECT_FALSE(part(diagonal, 0, 1)); // a register goes to the next row and column at once
}

TEST(Derived, VectorsTakeThePlaceOfLanes) {
  Layout vectors = *withVectors(accumulator(), 1, 8);
  EXPECT_EQ(vectors.consecutiveElements(1), 8);
  EXPECT_EQ(vectors.numRegisters(), accumulator().numRegisters());
  EXPECT_TRUE(vectors.isSurjective() && vectors.isInjective());
  EXPECT_EQ(vectors.applyLinear(In::Lane, 3), (Coords{0, 24})); // four lanes hold 32 in a row
  EXPECT_EQ(withVectors(vectors, 1, 8), vectors);
}

TEST(Derived, VectorsNeedRegistersThatMoveFurther) {
  EXPECT_FALSE(withVectors(accumulator(), 1, 64)); // two lane bits for the registers' three steps
  EXPECT_FALSE(withVectors(Layout::coalesced({32, 2}, {1, 0}, 1, 1), 1, 2));
}

} // namespace
} // namespace tile::layout
