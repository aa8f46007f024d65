// The product of two matrices, row by row, by a plain loop in double: what kernels with loops of
// dots are compared with.
#pragma once

#include "tests/execution/Numbers.h"

#include <cstdint>
#include <vector>

namespace tile::test {

template <class A, class B> class ReferenceProduct {
public:
  /// Rows of `a` have `depth` elements, those of `b` `columns`. Both lists must outlive the
  /// product.
  ReferenceProduct(const std::vector<A> &a, const std::vector<B> &b, int64_t depth, int64_t columns)
      : a_(a), b_(b), depth_(depth), columns_(columns) {}

  /// A row of `a` by a column of `b`, of whose rows those from `first` on count.
  double at(int64_t row, int64_t column, int64_t first = 0) const {
    double sum = 0;
    for (int64_t k = 0; k < depth_; ++k)
      sum += exact(a_[static_cast<size_t>(row * depth_ + k)]) *
             exact(b_[static_cast<size_t>((first + k) * columns_ + column)]);
    return sum;
  }

  /// Element i of the product, which lies row by row.
  double operator()(int64_t i) const { return at(i / columns_, i % columns_); }

private:
  const std::vector<A> &a_;
  const std::vector<B> &b_;
  int64_t depth_, columns_;
};

} // namespace tile::test
