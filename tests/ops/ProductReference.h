// Products of matrices as plain loops over doubles. Compiled with optimisation: the references of products take longer than
// all other references together.
#pragma once

#include <cstdint>
#include <vector>

namespace tile::test {

/// A matrix of doubles, wherever its elements are in memory.
struct MatrixOfDoubles {
  std::vector<double> values;
  int64_t rowStride, columnStride;
};

/// The m x n product of m x k and k x n, row-major.
std::vector<double> dotOf(const MatrixOfDoubles &a, const MatrixOfDoubles &b, int64_t m, int64_t n,
                          int64_t k);

} // namespace tile::test
