// Sets of bytes of global memory, as ranges: what a launch touches is a few long runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tile::vgpu {

/// [begin, end).
struct ByteRange {
  uint64_t begin = 0, end = 0;
  uint64_t bytes() const { return end - begin; }
  bool operator==(const ByteRange &) const = default;
};

/// Ranges in order that neither overlap nor touch.
class ByteRanges {
public:
  ByteRanges() = default;
  explicit ByteRanges(ByteRange range) { append(range); }

  bool empty() const { return ranges_.empty(); }
  const std::vector<ByteRange> &ranges() const { return ranges_; }
  /// Adds a range that begins at or beyond the end of the last one.
  void append(ByteRange range);
  /// The first bytes that both have.
  std::optional<ByteRange> firstCommon(const ByteRanges &other) const;
  void unite(const ByteRanges &other);
  void subtract(const ByteRanges &other);
  bool operator==(const ByteRanges &) const = default;

private:
  std::vector<ByteRange> ranges_;
};

} // namespace tile::vgpu
