// Sums of dq that programs of attention's gradient add to together, one for each tile of keys.
//
// They are f32, in blocks of eight rows by sixteen columns. A thread that holds an MMA's
// accumulators has columns 2t, 2t + 1, 8 + 2t, 9 + 2t of one row of each block, t = 0 to 3. These
// four are adjacent, so that it adds them in one access, and the threads of a warp, which have all
// of a block, add to 512 contiguous bytes.
#pragma once

#include "ops/Arguments.h"

#include <tile/tile.h>

#include <array>

namespace tile::ops {

/// Extents of the sums for that many rows, whole blocks, of heads that are `width` wide:
/// B x H x rows / 8 x 8 width.
std::array<int64_t, 4> extentsOfQuerySums(int64_t batches, int64_t heads, int64_t rows,
                                          int64_t width);

/// Sums, all 0, for each row of q (B x H x L x D), filled up to a multiple of `rows`.
Tensor newQuerySums(CallSite site, const Operand &q, int64_t rows, int64_t width);

/// Adds a tile, rows x width, to that of a head in the sums.
void addToQuerySums(const InOut<f32, 4> &sums, Value batch, Value head, Value tile, Value x);

/// dq = scale * sums, rounded to dq's dtype.
void storeQuerySums(CallSite site, const Tensor &sums, const Operand &dq, float scale);

} // namespace tile::ops
