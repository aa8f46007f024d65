// A problem as a line of a file of shapes, which the mode `record` writes and `tilec tune --shapes FILE` reads:
//
//   {"kernel":"matmul","args":["f16[4096x4096]","f16[4096x12288]:0","f16[4096x12288]"],"consts":{"precision":1}}
//
// Views are row-major; behind a colon stands the dimension of unit stride where it is another one, and the others are in order.
#pragma once

#include "runtime/tune/Space.h"

#include <string>

namespace tile::tune {

/// The line of a call. Strides that leave gaps are not told.
std::string shapeLine(const detail::KernelRecord &record, std::span<const HostArg> args,
                      std::span<const int64_t> constants);

/// The names and values of the constants that are not tuned.
std::vector<std::pair<std::string, int64_t>> givenConstants(const detail::KernelRecord &record,
                                                            std::span<const int64_t> constants);

} // namespace tile::tune
