// Sets of bytes as ranges beside sets of bits.
#include "runtime/vgpu/check/TouchedBytes.h"

#include <bitset>
#include <gtest/gtest.h>
#include <random>

namespace tile::vgpu {
namespace {

constexpr uint64_t kSize = 128;
using Bits = std::bitset<kSize>;

ByteRanges rangesOf(const Bits &bits) {
  ByteRanges ranges;
  for (uint64_t at = 0; at < kSize; ++at)
    if (bits[at])
      ranges.append({at, at + 1});
  return ranges;
}

// Runs of ones and zeros of several lengths.
Bits someBits(std::mt19937 &random) {
  Bits bits;
  bool isSet = random() % 2;
  for (uint64_t at = 0; at < kSize; isSet = !isSet)
    for (uint64_t end = std::min(kSize, at + 1 + random() % (1u << random() % 7)); at < end; ++at)
      bits[at] = isSet;
  return bits;
}

TEST(ByteRanges, AgreeWithSetsOfBits) {
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    Bits a = someBits(random), b = someBits(random);
    ByteRanges ranges = rangesOf(a), others = rangesOf(b), both = ranges, rest = ranges;
    EXPECT_EQ(ranges.empty(), a.none());
    both.unite(others);
    ASSERT_EQ(both, rangesOf(a | b)) << a << " and " << b;
    rest.subtract(others);
    ASSERT_EQ(rest, rangesOf(a & ~b)) << a << " without " << b;
    ByteRanges common = rangesOf(a & b);
    auto first = ranges.firstCommon(others);
    ASSERT_EQ(first.has_value(), !common.empty()) << a << " and " << b;
    if (first)
      ASSERT_EQ(*first, common.ranges().front()) << a << " and " << b;
  }
}

TEST(TouchedBytes, ConflictWhereOneSideWritesAndNotBothAreStrong) {
  for (TouchKind a : kTouchKinds)
    for (TouchKind b : kTouchKinds) {
      TouchedBytes first, second;
      first[a].append({0, 10});
      second[b].append({8, 20});
      bool isExpected = (isWrite(a) || isWrite(b)) && !(isStrong(a) && isStrong(b));
      auto conflict = firstConflict(first, second);
      ASSERT_EQ(conflict.has_value(), isExpected) << int(a) << " and " << int(b);
      if (conflict)
        EXPECT_EQ(conflict->bytes, (ByteRange{8, 10}));
    }
}

// Whatever work of another stream conflicts with: it is found as well in what is left of the earlier work and in the later.
TEST(TouchedBytes, WhatIsSupersededIsFoundInTheLaterWork) {
  std::mt19937 random(7);
  auto some = [&] {
    TouchedBytes touched;
    for (TouchKind kind : kTouchKinds)
      if (random() % 2)
        touched[kind] = rangesOf(someBits(random));
    return touched;
  };
  for (int round = 0; round < 5000; ++round) {
    TouchedBytes earlier = some(), later = some(), other = some(), left = earlier;
    supersede(left, later);
    bool isFound = firstConflict(left, other) || firstConflict(later, other);
    ASSERT_EQ(isFound, firstConflict(earlier, other) || firstConflict(later, other));
  }
}

} // namespace
} // namespace tile::vgpu
