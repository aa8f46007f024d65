// Shapes: the extents of a tile, which are host constants while a kernel is traced.
//
// Every extent is a positive integer (sort and topk want powers of two), and a tile holds at
// most kMaxTileElements elements. Ranks go up to kMaxRank.
#pragma once

#include <tile/Const.h>
#include <tile/Types.h>
#include <tile/detail/Extent.h>

#include <initializer_list>
#include <string>

namespace tile {

/// The most dimensions a tile or view may have.
inline constexpr int kMaxRank = 8;
/// The most elements one tile may hold (1,048,576).
inline constexpr int64_t kMaxTileElements = int64_t(1) << 20;

/// The extents of a tile, outermost first. Rank 0 is a scalar.
class Shape {
public:
  constexpr Shape() = default;
  /// `{128, 64}`; lists longer than kMaxRank are cut and reported by the operation that uses the
  /// shape.
  constexpr Shape(std::initializer_list<detail::Extent> extents) {
    for (detail::Extent extent : extents)
      append(extent.value);
  }

  constexpr int rank() const { return rank_; }
  /// The extent of dimension `dim`, which must be in 0 .. rank-1.
  constexpr int64_t operator[](int dim) const { return extents_[dim]; }
  constexpr int64_t &operator[](int dim) { return extents_[dim]; }
  /// Adds an innermost dimension.
  constexpr void append(int64_t extent) {
    if (rank_ < kMaxRank)
      extents_[rank_] = extent;
    ++rank_;
  }
  /// The number of elements; 1 for a scalar.
  constexpr int64_t elements() const {
    int64_t product = 1;
    for (int dim = 0; dim < rank_ && dim < kMaxRank; ++dim)
      product *= extents_[dim];
    return product;
  }
  constexpr bool operator==(const Shape &) const = default;
  /// "128x64"; "scalar" for rank 0.
  std::string str() const;

  constexpr const int64_t *begin() const { return extents_; }
  constexpr const int64_t *end() const { return extents_ + rank_; }

private:
  int64_t extents_[kMaxRank] = {};
  int rank_ = 0;
};

} // namespace tile
