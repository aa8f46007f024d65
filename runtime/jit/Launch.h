// The compiled kernels of an open device, and launching what was compiled without a kernel of the language: a file of tile IR.
#pragma once

#include "codegen/compiled/CompiledKernel.h"
#include "runtime/host/Start.h"

#include <tile/Device.h>
#include <tile/Kernel.h>

namespace tile::detail {
struct DeviceState;
} // namespace tile::detail

namespace tile::jit {

class Call;
class Jit;

/// The device's kernels; made by the first call.
Jit &jitOf(detail::DeviceState &device);

/// Whether the device can start a kernel while the one before ends.
bool canStartEarly(const detail::DeviceState &device);
/// Whether kernels given to the stream wait themselves for those before. They do so from sm_90 on: on devices before it a
/// stream that overlaps launches has the kernels of any other.
bool startsEarly(const detail::StreamState &stream);

/// The kernel for a call, after all checks of its arguments; compiled and loaded if none was like it. `stream` is where it will
/// be launched, if it will.
launch::RecentCall kernelFor(Call &call, detail::DeviceState &device,
                             const detail::StreamState *stream = nullptr);

/// Loads and launches once, and waits. The arguments are those of the source kernel, in order. Errors: InvalidArgument
/// where they do not fit, and those of a launch.
void launchCompiled(const Device &device, const codegen::CompiledKernel &kernel,
                    std::span<const detail::HostArg> args, const detail::LaunchOptions &options);

} // namespace tile::jit
