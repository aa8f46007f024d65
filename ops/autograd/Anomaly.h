// Looking for what should not be in a gradient.
#pragma once

#include <tile/Tensor.h>

namespace tile::autograd::detail {

/// True if an element of a floating-point tensor is NaN. Copies the tensor to the host: slow, for finding mistakes.
bool hasNan(const Tensor &tensor);

} // namespace tile::autograd::detail
