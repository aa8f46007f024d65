// Merges lists of ranges, which are in order.
#include "runtime/vgpu/check/ByteRanges.h"

#include <algorithm>

namespace tile::vgpu {

void ByteRanges::append(ByteRange range) {
  if (range.begin == range.end)
    return;
  if (!ranges_.empty() && ranges_.back().end >= range.begin)
    ranges_.back().end = std::max(ranges_.back().end, range.end);
  else
    ranges_.push_back(range);
}

// The first of `ranges` that ends beyond `at`.
static auto firstBeyond(const std::vector<ByteRange> &ranges, uint64_t at) {
  return std::ranges::upper_bound(ranges, at, {}, &ByteRange::end);
}

std::optional<ByteRange> ByteRanges::firstCommon(const ByteRanges &other) const {
  if (empty() || other.empty())
    return std::nullopt;
  auto mine = firstBeyond(ranges_, other.ranges_.front().begin);
  auto theirs = firstBeyond(other.ranges_, ranges_.front().begin);
  while (mine != ranges_.end() && theirs != other.ranges_.end()) {
    ByteRange both{std::max(mine->begin, theirs->begin), std::min(mine->end, theirs->end)};
    if (both.begin < both.end)
      return both;
    ++(mine->end < theirs->end ? mine : theirs);
  }
  return std::nullopt;
}

void ByteRanges::unite(const ByteRanges &other) {
  if (other.empty())
    return;
  ByteRanges both;
  both.ranges_.reserve(ranges_.size() + other.ranges_.size());
  auto mine = ranges_.begin();
  auto theirs = other.ranges_.begin();
  while (mine != ranges_.end() || theirs != other.ranges_.end()) {
    bool isMine =
        theirs == other.ranges_.end() || (mine != ranges_.end() && mine->begin < theirs->begin);
    both.append(isMine ? *mine++ : *theirs++);
  }
  *this = std::move(both);
}

void ByteRanges::subtract(const ByteRanges &other) {
  if (!firstCommon(other))
    return;
  ByteRanges rest;
  auto hole = other.ranges_.begin();
  for (ByteRange range : ranges_) {
    while (hole != other.ranges_.end() && hole->end <= range.begin)
      ++hole;
    // The last hole may reach into the next range.
    for (auto cut = hole; cut != other.ranges_.end() && cut->begin < range.end; ++cut) {
      if (cut->begin > range.begin)
        rest.append({range.begin, cut->begin});
      range.begin = std::min(cut->end, range.end);
    }
    rest.append(range);
  }
  *this = std::move(rest);
}

} // namespace tile::vgpu
