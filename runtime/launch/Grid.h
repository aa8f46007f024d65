// How many programs a launch has.
#pragma once

#include "runtime/launch/LoadedKernel.h"

#include <tile/Kernel.h>

#include <optional>
#include <span>

namespace tile::launch {

/// The blocks along each axis: given by the options, else what follows from the arguments. Any may be 0. `known` is what was worked
/// out for a call of the same form; of a kernel whose grid depends on the value of a number it stays empty. Errors:
/// InvalidArgument for a kernel without a grid helper whose grid is not given, InvalidShape for more than a device takes.
device::Dim3 gridOf(const Named &named, const LoadedKernel &kernel,
                    std::span<const detail::HostArg> args, const detail::LaunchOptions &options,
                    std::optional<device::Dim3> &known);

} // namespace tile::launch
