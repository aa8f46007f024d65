// The outputs of the forms of ops that allocate.
#pragma once

#include "ops/Arguments.h"

#include <tile/Tensor.h>

namespace tile::ops {

/// A tensor of the stream with x's extents, row-major.
Tensor newLike(const Stream &stream, const Operand &x, DType dtype);
/// One with the extents that the operands broadcast to by NumPy's rule; refuses those that do not.
Tensor newBroadcast(const Stream &stream, const Arguments &arguments,
                    std::initializer_list<Named> operands, DType dtype);

} // namespace tile::ops
