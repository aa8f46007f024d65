// Element types as DLPack knows them.
#pragma once

#include <tile/DLPack.h>

#include <optional>

namespace tile::dlpack {

/// Of the type of a tensor's elements.
ElementType elementTypeOf(DType dtype);
/// Nothing for elements that tensors cannot have: vectors, complex numbers, parts of bytes, ...
std::optional<DType> dtypeOf(ElementType type);

} // namespace tile::dlpack
