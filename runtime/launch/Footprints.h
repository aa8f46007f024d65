// Where the elements of the tensors of a call lie, which follows from their shapes but for the addresses: calls that are
// repeated need not work it out again.
#pragma once

#include <tile/Kernel.h>

#include <span>
#include <vector>

namespace tile::launch {

/// The elements of a tensor argument lie in so many bytes from its address on.
struct Footprint {
  int argument;
  int view; ///< the first argument that is this very view, marked by markSameViews; else `argument`
  bool isWritten; ///< by the kernel
  uint8_t elementBytes;
  uintptr_t bytes;
};

/// Of the tensors of a call that have elements. Shapes have been validated.
std::vector<Footprint> footprintsOf(const detail::KernelRecord &record,
                                    std::span<const detail::HostArg> args);

} // namespace tile::launch
