// Tensors in files, by name: the safetensors format, which other frameworks read and write too.
//
// A file is an 8-byte little-endian length, a JSON object of that length that gives each tensor's
// dtype, shape and place, and the elements, row-major and without gaps.
#pragma once

#include <tile/Tensor.h>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tile {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// What a file holds.
struct SafeTensors {
  std::vector<NamedTensor> tensors;            ///< in the order of the file's elements
  std::map<std::string, std::string> metadata; ///< texts of any meaning

  /// The tensor of that name. Error: InvalidArgument, which names the nearest there is.
  const Tensor &at(const std::string &name, Loc loc = Loc::here()) const;
};

/// Writes the tensors, of any strides, replacing the file as a whole or not at all. Waits for the
/// device.
/// Errors: InvalidArgument for a name that is empty, "__metadata__" or given twice; IoError.
void saveSafeTensors(const std::string &path, std::span<const NamedTensor> tensors,
                     const std::map<std::string, std::string> &metadata = {},
                     Loc loc = Loc::here());

/// Reads all tensors of a file into memory of the stream. Nothing in the file is trusted.
/// Errors: IoError if it cannot be read, Parse if it is not such a file (which says where and why),
/// Unsupported for a dtype or rank that tensors cannot have, OutOfMemory.
SafeTensors loadSafeTensors(const Stream &stream, const std::string &path, Loc loc = Loc::here());

} // namespace tile
