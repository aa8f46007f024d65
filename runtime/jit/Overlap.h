// Two tensors of a call that share memory, one of them written.
#pragma once

#include "runtime/jit/Footprints.h"

#include <tile/Kernel.h>

#include <span>
#include <utility>

namespace tile::jit {

using Pairs = std::span<const std::pair<int, int>>;

/// Throws tile::Error, Aliasing, at the kernel's line if two tensors overlap and the kernel writes
/// one. Tensors overlap if the first element of one is an element of the other, which is cheap to
/// see and never a false alarm. One and the same view as input and output is allowed: such a call
/// works in place, in kernels whose programs read only what they write. `allowed` is asked if there
/// are others: the pairs, the lower argument first, of which the kernel says that they may overlap.
void refuseOverlap(const detail::KernelRecord &record, std::span<const detail::HostArg> args,
                   std::span<const Footprint> footprints, detail::FunctionRef<Pairs()> allowed);

} // namespace tile::jit
