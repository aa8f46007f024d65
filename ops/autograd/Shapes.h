// Views and sums that gradients of several ops need.
#pragma once

#include <tile/Tensor.h>

#include <vector>

namespace tile::autograd::detail {

/// Extents of a tensor, to be remembered without it.
using ExtentList = std::vector<int64_t>;
inline ExtentList extentsOf(const Tensor &tensor) {
  return {tensor.extents().begin(), tensor.extents().end()};
}

/// The gradient of an operand of these extents that was broadcast: x summed over where it was repeated.
Tensor summedTo(const Stream &stream, const Tensor &x, const ExtentList &extents, Loc loc);
/// x repeated to these extents, which it broadcasts to: a view.
Tensor repeated(const Tensor &x, const ExtentList &extents);
/// The dimensions in another order: a view.
Tensor permuted(const Tensor &x, std::span<const int> order);
/// The last two dimensions exchanged: a view.
Tensor transposed(const Tensor &x);
/// x in another shape; copied first where it is not contiguous.
Tensor reshaped(const Stream &stream, const Tensor &x, const ExtentList &shape, Loc loc);
/// All dimensions but the last as one.
Tensor asRows(const Stream &stream, const Tensor &x, Loc loc);

} // namespace tile::autograd::detail
