// Layouts in which an axis can be reduced by registers, lanes and warps one bit after the other.
#pragma once

#include "ir/layout/Layout.h"

namespace tile::layout {

/// Every place bit that moves along `axis` moves along it alone, and no lane or warp bit does that
/// repeats what other bits hold: folding these bits one by one takes each element exactly once.
/// Mirroring and reshaping can make layouts that are not so.
bool isReducible(const Layout &source, int axis);

/// The layout itself if it is reducible; else one without the repetitions; else another layout over
/// as many warps.
Layout reducible(const Layout &source, int axis);

} // namespace tile::layout
