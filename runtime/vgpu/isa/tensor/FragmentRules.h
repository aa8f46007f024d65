// What the products on fragments, dense and sparse, have in common: they need the whole warp, and a sum is initialised if its
// row of A, its column of B and its own start are.
#pragma once

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/machine/Warp.h"

#include <span>

namespace tile::vgpu {

/// Takes `.row.col`, in that order.
inline bool takeRowCol(Suffixes &suffixes) {
  return suffixes.takeOneOf({"row", "col"}) == "row" && suffixes.takeOneOf({"row", "col"}) == "col";
}

/// True if all lanes of the warp are here.
inline bool needWholeWarp(Warp &warp, const Op &op) {
  if (!warp.converged(op, kFullMask))
    return false;
  if (warp.mask != kFullMask)
    warp.stop(op, FindingKind::Divergence, LaneMask{warp.mask},
              "mma needs all 32 lanes of the warp");
  return true;
}

/// One bit for each group of four lanes: all of them are among `lanes`.
inline uint32_t wholeQuads(uint32_t lanes) {
  uint32_t result = 0;
  for (unsigned g = 0; g < 8; ++g)
    result |= uint32_t{(lanes >> (4 * g) & 15) == 15} << g;
  return result;
}

/// The rows of A that are initialised, of its upper and its lower half, and the columns of B.
struct GoodLines {
  uint32_t rows[2] = {255, 255}, columns = 255;
  bool areAll() const { return (rows[0] & rows[1] & columns) == 255; }
};

/// Marks the sums as initialised whose row and column are. Each lane has `elements` of them: element i is in the row half i/2
/// and in the column 2t + i%2.
inline void setSumValidity(Warp &warp, const GoodLines &lines, unsigned elements,
                           std::span<const uint32_t> starts, const uint32_t *results) {
  unsigned perRegister = elements / static_cast<unsigned>(starts.size());
  for (unsigned r = 0; r < starts.size(); ++r) {
    uint32_t good = warp.shadow.whole(starts[r]);
    for (unsigned lane = 0; lane < kLanes && !lines.areAll(); ++lane)
      for (unsigned j = 0; j < perRegister; ++j) {
        unsigned i = r * perRegister + j, column = lane % 4 * 2 + (i & 1);
        if (!(lines.rows[i >> 1] >> (lane / 4) & 1) || !(lines.columns >> column & 1))
          good &= ~(1u << lane);
      }
    warp.shadow.set(results[r], good, kFullMask);
  }
}

} // namespace tile::vgpu
