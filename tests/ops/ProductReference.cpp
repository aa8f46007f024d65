#include "tests/ops/ProductReference.h"

#include <stddef.h>

namespace tile::test {

std::vector<double> dotOf(const MatrixOfDoubles &a, const MatrixOfDoubles &b, int64_t m, int64_t n,
                          int64_t k) {
  std::vector<double> sums(size_t(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        sums[size_t(i * n + j)] += a.values[size_t(i * a.rowStride + l * a.columnStride)] *
                                   b.values[size_t(l * b.rowStride + j * b.columnStride)];
  return sums;
}

} // namespace tile::test
