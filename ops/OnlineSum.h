// The sum of exp(x - m) over rows whose maximum m is not known before: both are kept as the row is swept.
//
// M. Milakov, N. Gimelshein: Online normalizer calculation for softmax, 2018.
#pragma once

#include <tile/tile.h>

#include <limits>

namespace tile::ops {

/// The smallest number but -infinity: a maximum of rows never is less, so that x - m is a number or -infinity.
inline double lowestOf(DType dtype) {
  return dtype == f64 ? std::numeric_limits<double>::lowest()
                      : std::numeric_limits<float>::lowest();
}

/// One maximum and one sum for each element of a tile, so that a sweep needs no exchange between threads.
class OnlineSum {
public:
  OnlineSum(DType dtype, Shape tile)
      : largest_(var(full(dtype, tile, lowestOf(dtype)))), total_(var(zeros(dtype, tile))) {}
  /// NaN makes the sum NaN, -infinity adds nothing.
  void add(Value part) {
    // The smaller of both lies this far below the larger: one exponential does for either case.
    Value scale = exp(-abs(part - largest_));
    total_ = select(part > largest_, total_ * scale + 1, total_ + scale);
    largest_ = max(largest_, part);
  }

  struct OfRows {
    Value largest, total;
  };
  /// The maximum and the sum of each row of the tile, as columns. A row of only -infinities gives the lowest finite number and 0.
  OfRows ofRows() const {
    Value m = reduce_max(largest_, 1, {.keep_dims = true});
    return {m, sum(total_ * exp(largest_ - m), 1, {.keep_dims = true})};
  }

private:
  Var largest_, total_;
};

} // namespace tile::ops
