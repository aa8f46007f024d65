// Sums of dq that programs of attention's gradient add to together, one for each tile of keys.
//
// Rows lie in f32, sixteen columns after the other, and of those sixteen in an order of their own: a thread that holds a
// product of tensor cores has columns 2t, 2t + 1, 8 + 2t, 9 + 2t of each sixteen, t = 0 to 3. These four lie side by side, so
// that it adds them in one access, and a row's four threads fill 64 bytes.
#pragma once

#include "ops/Arguments.h"

#include <tile/tile.h>

namespace tile::ops {

/// Sums for each row of q (B x H x L x D), all 0: B x H x L' x D', where L' is a multiple of `rows`, D' = `width`.
Tensor newQuerySums(CallSite site, const Operand &q, int64_t rows, int64_t width);

/// Adds a tile, rows x width, to that of a head in the sums.
void addToQuerySums(const InOut<f32, 4> &sums, Value batch, Value head, Value tile, Value x);

/// dq = scale * sums, rounded to dq's dtype.
void storeQuerySums(CallSite site, const Tensor &sums, const Operand &dq, float scale);

} // namespace tile::ops
