// The header of a file of tensors, for who reads such files.
#pragma once

#include <tile/Error.h>
#include <tile/Types.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tile::detail {

/// Where a tensor's elements are in a file.
struct SafeTensorsEntry {
  std::string name;
  DType dtype = any;
  std::vector<int64_t> shape = {};
  size_t begin = 0, bytes = 0; ///< from the start of the file
};
struct SafeTensorsHeader {
  std::vector<SafeTensorsEntry> entries; ///< in the order of their elements
  std::map<std::string, std::string> metadata;
};
/// The header of a file with this content. Errors: Parse, Unsupported.
SafeTensorsHeader parseSafeTensors(std::span<const unsigned char> file, const std::string &path,
                                   Loc loc);

} // namespace tile::detail
