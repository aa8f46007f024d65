// Layouts in which a scan along an axis is cheap: along it, coordinate bits are place bits one to
// one, and in an order in which few pieces need to be told about each other.
//
// The order, from the lowest coordinate bit: registers (a thread's run, scanned by itself), lanes
// (shuffles), then either warps (shared memory) or further registers (one piece after the other),
// then odd digits.
#pragma once

#include "ir/layout/Layout.h"

namespace tile::layout {

/// How a scannable layout splits an axis.
struct ScanPieces {
  int32_t run = 1;           ///< consecutive elements of a thread
  std::vector<int> laneBits; ///< lane bits along the axis, lowest coordinate first
  int32_t piece = 1;         ///< consecutive elements of a warp
  int32_t warps = 1;         ///< warps along the axis
};

/// The pieces along an axis; nothing if the layout does not have the form above.
std::optional<ScanPieces> scanPieces(const Layout &source, int axis);

/// The layout itself if it has the form; else its bits along the axis in another order, if those
/// are one to one; else another layout over as many warps.
Layout scannable(const Layout &source, int axis);

/// Where the totals of the pieces are after each warp has scanned its own: one element a piece
/// along the axis.
Layout pieceTotals(const Layout &source, int axis);

} // namespace tile::layout
