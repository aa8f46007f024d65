// The compiled kernels of an open device, and launching what was compiled without a kernel of the language: a file of tile IR.
#pragma once

#include "codegen/compiled/CompiledKernel.h"

#include <tile/Device.h>
#include <tile/Kernel.h>

namespace tile::detail {
struct DeviceState;
} // namespace tile::detail

namespace tile::jit {

class Jit;

/// The device's kernels; made by the first call.
Jit &jitOf(detail::DeviceState &device);

/// Loads and launches once, and waits. The arguments are those of the source kernel, in order. Errors: InvalidArgument
/// where they do not fit, and those of a launch.
void launchCompiled(const Device &device, const codegen::CompiledKernel &kernel,
                    std::span<const detail::HostArg> args, const detail::LaunchOptions &options);

} // namespace tile::jit
