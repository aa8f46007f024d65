// Which tiles and which schedule a matmul is computed with.
#pragma once

#include "ops/matmul/MatmulThresholds.h"

#include <tile/Control.h>
#include <tile/Ops.h>
#include <tile/detail/ops/Matmul.h>

#include <string>

namespace tile::ops::detail {

/// A matmul to be computed, and the GPU that computes it.
struct MatmulShape {
  int64_t m, n, k, batches;
  DType dtype, result;
  DotOptions how;
  bool isKMajor; ///< both operands are, with all other strides at multiples of 16 bytes
  TargetInfo gpu;
  int multiprocessors;
  bool aligned = true;       ///< both operands' rows or columns begin at multiples of 16 bytes
  bool alignedResult = true; ///< so do the rows of c
  std::string target = {};   ///< the GPU's
};

inline int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Programs of a matmul in tiles of m x n.
inline int64_t programs(const MatmulShape &shape, int m, int n) {
  return shape.batches * cdiv(shape.m, m) * cdiv(shape.n, n);
}

inline bool isHalf(DType dtype) { return dtype == f16 || dtype == bf16; }

/// The parts of K in a step of the small-N kernel, one per warp.
inline constexpr int kSmallNParts = 8;

/// Are these tiles of the small-N kernel? Other tiles of as many columns have the usual main loop.
bool usesSmallNKernel(const MatmulTiles &tiles, DType dtype);

/// The tiles and the schedule that are expected to take the least time.
MatmulTiles chooseTiles(const MatmulShape &shape);

/// Is c computed as the transpose of b^T a^T? Where a has few rows, they become columns: those of
/// the GEMV and small-N kernels, or the N of wgmma, which may be smaller than its M. A tile then
/// has all of them, so that b is read once.
bool isComputedTransposed(const MatmulShape &shape);

/// The loop over the steps along K, with as many stages in shared memory as pay on the kernel's
/// target.
Range matmulSteps(Range steps, const MatmulTiles &tiles, DType dtype);

} // namespace tile::ops::detail
