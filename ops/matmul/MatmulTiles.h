// Which tiles a matrix product is computed in.
#pragma once

#include <tile/Control.h>
#include <tile/Ops.h>
#include <tile/detail/ops/Matmul.h>

#include <string>

namespace tile::ops::detail {

/// A product to be computed, and the GPU that computes it.
struct MatmulShape {
  int64_t m, n, k, batches;
  DType dtype, result;
  DotOptions how;
  bool lieAlongK; ///< a and b do, in rows at multiples of 16 bytes
  TargetInfo gpu;
  int multiprocessors;
  bool aligned = true;       ///< do rows or columns of both operands lie at multiples of 16 bytes?
  bool alignedResult = true; ///< do rows of c?
  std::string target = {};   ///< the GPU's
};

inline int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Programs of a product in tiles of m x n.
inline int64_t programs(const MatmulShape &shape, int m, int n) {
  return shape.batches * cdiv(shape.m, m) * cdiv(shape.n, n);
}

inline bool isHalf(DType dtype) { return dtype == f16 || dtype == bf16; }

/// A product by up to so many vectors, the columns of one instruction, is computed in tiles of so many, and the parts of K in each
/// of its steps, one a warp.
inline constexpr int kColumnsOfVectors = 8, kPartsByVectors = 8;

/// Are these the tiles of a product by a few vectors? Other tiles of as many columns are computed as any.
bool areByVectors(const MatmulTiles &tiles, DType dtype);

/// The tiles that are expected to take the least time.
MatmulTiles chooseTiles(const MatmulShape &shape);

/// Is c computed as the transpose of b^T a^T? Where a has one row or a few, these vectors come second. Of few rows of c groups of warps have too
/// few for their instructions, whose columns may be fewer: then columns of c are their rows, and all rows of c the columns of a
/// tile, so that b is read once.
bool isComputedTransposed(const MatmulShape &shape);

/// The loop over the steps along K on the kernel's target: as many of them in shared memory at once as it gains by.
Range matmulSteps(Range steps, const MatmulTiles &tiles, DType dtype);

} // namespace tile::ops::detail
