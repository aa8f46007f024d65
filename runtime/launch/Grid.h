// How many programs a launch has.
#pragma once

#include "runtime/launch/LoadedKernel.h"

#include <tile/Kernel.h>

#include <array>
#include <span>

namespace tile::launch {

/// The blocks along each axis: given by the options, else what follows from the arguments. Any may be 0. Errors:
/// InvalidArgument for a kernel without a grid helper whose grid is not given, InvalidShape for more than a device takes.
std::array<int64_t, 3> gridOf(const Named &named, const LoadedKernel &kernel,
                              std::span<const detail::HostArg> args,
                              const detail::LaunchOptions &options);

} // namespace tile::launch
