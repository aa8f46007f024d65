// What functions of variables tell segments that run twice.
#pragma once

#include <cstdint>

namespace tile::autograd::detail {

/// A counter that functions move on, such as the offset of a source of random numbers: called
/// before they do, so that a segment that runs again starts from where it was. The counter must
/// live until then.
void beforeMove(uint64_t &counter);

} // namespace tile::autograd::detail
