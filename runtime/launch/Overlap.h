// Two tensors of a call that share memory, one of them written.
#pragma once

#include "runtime/launch/Footprints.h"

#include <tile/Kernel.h>

#include <span>
#include <utility>
#include <vector>

namespace tile::launch {

using Pairs = std::span<const std::pair<int, int>>;

/// The arguments, those that are one view marked with the first of it (HostArg::sameAs) if the kernel writes one of them.
/// `marked` holds them then. Whatever follows reads as many extents as arguments have dimensions: throws tile::Error if one
/// says that it has more than it can hold, which no kernel takes.
std::span<const detail::HostArg> markSameViews(const detail::KernelRecord &record,
                                               std::span<const detail::HostArg> args,
                                               std::vector<detail::HostArg> &marked);

/// Throws tile::Error, Aliasing, if two tensors overlap and the kernel writes
/// one. Tensors overlap if the first element of one is an element of the other, which is cheap to
/// see and never a false alarm. One and the same view as input and output is allowed: the kernel is
/// compiled for it, so that such a call works in place where programs read only what they write
/// themselves. `allowed` is asked if there are others: the pairs, the lower argument first, of which the kernel says that they may overlap.
void refuseOverlap(const detail::KernelRecord &record, std::span<const detail::HostArg> args,
                   std::span<const Footprint> footprints, detail::FunctionRef<Pairs()> allowed);

/// Whether refuseOverlap would let a call pass, and no two of its tensors have become one view that were not.
bool areApart(std::span<const detail::HostArg> args, std::span<const Footprint> footprints,
              Pairs allowed);

} // namespace tile::launch
