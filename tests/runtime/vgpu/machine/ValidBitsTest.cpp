// The map of initialised bytes, against a vector of bools.
#include "runtime/vgpu/machine/Memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tile::vgpu {
namespace {

constexpr uint64_t kBytes = 640;

struct Maps {
  std::vector<uint64_t> words = std::vector<uint64_t>(kBytes / 64 + 1);
  ValidBits bits{words.data()};
  std::vector<bool> expected = std::vector<bool>(kBytes);

  void check(const std::string &what) {
    for (uint64_t i = 0; i < kBytes; ++i)
      ASSERT_EQ(bits.get(i, 1), uint32_t{expected[i]}) << what << ", byte " << i;
    ASSERT_EQ(words.back(), 0u) << what << " went past the end";
  }
};

TEST(ValidBits, RangesAndCopies) {
  std::mt19937 random(1);
  auto below = [&](uint64_t bound) { return random() % bound; };
  Maps a, b;
  for (int round = 0; round < 4000; ++round) {
    uint64_t count = below(round % 2 ? 40 : kBytes) + 1, target = below(kBytes - count + 1),
             source = below(kBytes - count + 1);
    std::string what = "round " + std::to_string(round) + ": " + std::to_string(count) + " to " +
                       std::to_string(target) + " from " + std::to_string(source);
    if (round % 4 == 0) {
      bool valid = below(2);
      a.bits.setRange(target, count, valid);
      std::fill_n(a.expected.begin() + static_cast<ptrdiff_t>(target), count, valid);
    } else {
      Maps &from = round % 4 == 1 ? b : a; // onto itself, where the ranges may overlap
      a.bits.copyRange(target, from.bits, source, count);
      std::vector<bool> piece(from.expected.begin() + static_cast<ptrdiff_t>(source),
                              from.expected.begin() + static_cast<ptrdiff_t>(source + count));
      std::copy(piece.begin(), piece.end(), a.expected.begin() + static_cast<ptrdiff_t>(target));
    }
    a.check(what);
    if (HasFatalFailure())
      return;
    for (uint64_t length : {uint64_t{1}, uint64_t{64}, below(200) + 1, count}) {
      uint64_t begin = below(kBytes - length + 1);
      auto first = a.expected.begin() + static_cast<ptrdiff_t>(begin);
      ASSERT_EQ(a.bits.holdsRange(begin, length),
                std::count(first, first + static_cast<ptrdiff_t>(length), false) == 0)
          << what;
    }
    std::swap(a, b);
  }
}

TEST(RecentBlocks, HoldWholeAccesses) {
  RecentBlocks blocks;
  EXPECT_FALSE(blocks.hold(0, 0, 1)) << "nothing was found yet";
  blocks.add(1000, 1064);
  blocks.add(2000, 2016);
  EXPECT_TRUE(blocks.hold(1000, 1060, 4));
  EXPECT_FALSE(blocks.hold(1000, 1061, 4));
  EXPECT_FALSE(blocks.hold(1000, 2000, 4)) << "lanes in two allocations";
  EXPECT_FALSE(blocks.hold(996, 1000, 4));
  EXPECT_TRUE(blocks.hold(2012, 2012, 4));
  for (uint64_t i = 3; i < 7; ++i)
    blocks.add(1000 * i, 1000 * i + 16);
  EXPECT_FALSE(blocks.hold(1000, 1000, 4)) << "four others were found since";
}

} // namespace
} // namespace tile::vgpu
