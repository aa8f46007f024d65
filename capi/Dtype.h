// Element types of the C API and of C++: each numbers them for itself.
#pragma once

#include <tile/Types.h>
#include <tile/c/Tensor.h>

namespace tile::capi {

tile_dtype numberOf(DType dtype);
/// Of a tensor's elements, so that `any` is none. Error: InvalidArgument.
DType elementType(tile_dtype number);

} // namespace tile::capi
