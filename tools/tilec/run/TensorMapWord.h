// Tensor maps on the command line of `tilec run FILE.ptx`:
//
//   tmap:@K:box=128x64[:swizzle=none|32B|64B|128B][:oob=zero|nan][:shape=AxBxC][:strides=S1,S2]
//
// describes boxes of the array of argument K, or of the buffer of that name. Everything is in the order of the array,
// slowest axis first; strides are bytes, the innermost axis left out.
#pragma once

#include "runtime/device/TensorMap.h"
#include "tools/tilec/run/RunArguments.h"

#include <string>

namespace tile::tilec {

struct TensorMapWord {
  std::string word;       ///< as typed
  bool isPointer = false; ///< `tmapptr:`: the kernel gets the address of the map
  std::string array;      ///< K or a name
  std::vector<int64_t> box;
  std::optional<std::vector<int64_t>> shape, strides;
  device::TensorMapSwizzle swizzle = device::TensorMapSwizzle::None;
  device::TensorMapFill fill = device::TensorMapFill::Zero;
};

/// Whether a word has this form.
bool isTensorMapWord(const std::string &word);
/// Error: InvalidArgument naming the word and what is wrong with it.
TensorMapWord parseTensorMapWord(const std::string &word);
/// The description for the device. Errors: InvalidArgument for extents that do not fit each other or the array.
device::TensorMapParams paramsOf(const TensorMapWord &word, const RunArgument &array);

} // namespace tile::tilec
