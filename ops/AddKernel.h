// The kernel of `add`, for the op by name.
#pragma once

#include <tile/Registry.h>

namespace tile::ops {

/// Its kernel for vectors of that many elements, `block` of them per program.
KernelRequest addKernel(DType dtype, int64_t elements, int64_t block);

} // namespace tile::ops
