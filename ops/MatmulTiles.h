// Which tiles a matrix product is computed in.
#pragma once

#include <tile/Ops.h>
#include <tile/detail/ops/Matmul.h>

#include <string_view>

namespace tile::ops::detail {

/// A product to be computed, and the GPU that computes it.
struct MatmulShape {
  int64_t m, n, batches;
  DType dtype, result;
  Precision precision;
  std::string_view target; ///< "sm_90a"
  int multiprocessors;
};

/// Those of a GPU that is not known.
inline constexpr int kManyMultiprocessors = 132;

/// The tiles that are expected to take the least time.
MatmulTiles chooseTiles(const MatmulShape &shape);

/// Steps along K that a program on the kernel's target has in shared memory at once.
int matmulStages(const MatmulTiles &tiles, DType dtype);

} // namespace tile::ops::detail
