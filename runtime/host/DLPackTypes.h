// Element types as DLPack knows them.
#pragma once

#include <tile/DLPack.h>

#include <optional>
#include <string>

namespace tile::dlpack {

/// Of the type of a tensor's elements.
ElementType elementTypeOf(DType dtype);
/// Nothing for elements that tensors cannot have: vectors, complex numbers, parts of bytes, ...
std::optional<DType> dtypeOf(ElementType type);
/// "complex64", "float8_e4m3fnuz", "vectors of 4 float32": as NumPy and others call it.
std::string nameOf(ElementType type);

} // namespace tile::dlpack
