// Reducible layouts: folding registers, lanes and warps along an axis takes each element once.
#include "ir/layout/Reduce.h"
#include "tests/ir/layout/Samples.h"

#include <gtest/gtest.h>

namespace tile::layout {
namespace {

using namespace test;

/// The coordinates along the axis that a fold reaches from the first place: every combination of the
/// register, lane and warp bits that move along it.
std::vector<Coords> folded(const Layout &layout, int axis) {
  std::vector<Coords> places{Coords(size_t(layout.rank()), 0)};
  for (In in : {In::Register, In::Lane, In::Warp}) {
    uint32_t free = in == In::Register ? layout.freeMask(in) : 0;
    for (size_t bit = 0; bit < layout.bases(in).size(); ++bit) {
      const Coords &vector = layout.bases(in)[bit];
      if (vector[size_t(axis)] == 0 || (free >> bit & 1))
        continue;
      for (size_t i = 0, count = places.size(); i < count; ++i) {
        Coords other = places[i];
        for (size_t dim = 0; dim < other.size(); ++dim)
          other[dim] ^= vector[dim];
        places.push_back(other);
      }
    }
  }
  return places;
}

void expectEachElementOnce(const Layout &layout, int axis) {
  SCOPED_TRACE(layout.toString() + " axis " + std::to_string(axis));
  std::vector<int> times(size_t(layout.pow2Shape()[size_t(axis)]), 0);
  for (Coords place : folded(layout, axis)) {
    ++times[size_t(std::exchange(place[size_t(axis)], 0))];
    EXPECT_EQ(place, Coords(place.size(), 0)) << "a fold left its line";
  }
  for (int count : times)
    EXPECT_EQ(count, 1);
}

TEST(Reduce, EveryLayoutBecomesReducible) {
  for (const Shape &shape : allShapes(2, {1, 2, 4, 12, 512}))
    for (int64_t warps : {1, 4})
      for (const Layout &source : sampleLayouts(shape, warps))
        for (int axis = 0; axis < source.rank(); ++axis) {
          Layout result = reducible(source, axis);
          ASSERT_TRUE(result.isSurjective()) << result.toString();
          ASSERT_EQ(result.shape(), source.shape());
          ASSERT_EQ(result.numWarps(), source.numWarps());
          ASSERT_TRUE(isReducible(result, axis)) << result.toString();
          ASSERT_EQ(reducible(result, axis), result);
          expectEachElementOnce(result, axis);
        }
}

// A warp that holds what the lanes hold, mirrored.
TEST(Reduce, AMirroredCopyIsNotCountedTwice) {
  Bases bases;
  bases[size_t(In::Lane)] = {{1, 0}, {2, 0}, {0, 1}, {0, 2}, {0, 0}};
  bases[size_t(In::Warp)] = {{0, 3}};
  Layout source = Layout::create({4, 4}, bases).value();
  EXPECT_FALSE(isReducible(source, 1));
  EXPECT_TRUE(isReducible(source, 0));
  Layout result = reducible(source, 1);
  bases[size_t(In::Warp)] = {{0, 0}};
  EXPECT_EQ(result, Layout::create({4, 4}, bases).value());
}

// A lane that moves along both dimensions: folding it would leave the line.
TEST(Reduce, ADiagonalLaneIsReplaced) {
  Bases bases;
  bases[size_t(In::Lane)] = {{1, 1}, {0, 1}, {0, 2}, {2, 0}, {0, 0}};
  Layout source = Layout::create({4, 4}, bases).value();
  EXPECT_FALSE(isReducible(source, 0));
  EXPECT_FALSE(isReducible(source, 1));
  expectEachElementOnce(reducible(source, 1), 1);
}

} // namespace
} // namespace tile::layout
