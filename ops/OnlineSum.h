// The sum of exp(x - m) over rows whose maximum m is not known before: both are kept as the row is swept.
//
// M. Milakov, N. Gimelshein: Online normalizer calculation for softmax, 2018.
#pragma once

#include <tile/tile.h>

#include <limits>

namespace tile::ops {

/// exp(x - m), where a maximum of -infinity, which means "nothing seen yet", counts as 0.
inline Value shiftedExp(Value x, Value m) {
  return exp(x - select(m == -std::numeric_limits<double>::infinity(), 0.0f, m));
}

/// One maximum and one sum for each element of a tile, so that a sweep needs no exchange between threads.
class OnlineSum {
public:
  OnlineSum(DType dtype, Shape tile)
      : largest_(var(full(dtype, tile, -std::numeric_limits<float>::infinity()))),
        total_(var(zeros(dtype, tile))) {}
  void add(Value part) {
    Value now = max(largest_, part);
    total_ = total_ * shiftedExp(largest_, now) + shiftedExp(part, now);
    largest_ = now;
  }

  struct OfRows {
    Value largest, total;
  };
  /// Of each row of the tile, as columns.
  OfRows ofRows() const {
    Value m = reduce_max(largest_, 1, {.keep_dims = true});
    return {m, sum(total_ * shiftedExp(largest_, m), 1, {.keep_dims = true})};
  }

private:
  Var largest_, total_;
};

} // namespace tile::ops
