// Arrays as .npy files: little-endian, row-major, of the dtypes NumPy shares with us.
#pragma once

#include <tile/Types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace tile::tilec {

struct Array {
  DType dtype = any;
  std::vector<int64_t> extents;
  std::vector<std::byte> data;
};

/// Reads a file. Throws Error (Parse, IoError) naming the file and what is wrong with it; nothing
/// in the file is trusted.
Array readNpy(const std::string &path);

/// Writes a file, whole or not at all. Throws Unsupported for dtypes NumPy does not have (bf16,
/// fp8), IoError.
void writeNpy(const std::string &path, const Array &array);

} // namespace tile::tilec
