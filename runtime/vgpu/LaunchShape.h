// Checks what a launch asks for against what the kernel declares and the device has.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/machine/Program.h"

namespace tile::vgpu {

/// Threads a block may have, by the kernel's directives and the device.
int maxThreads(const Function &function, const device::DeviceProps &props);

/// Throws, naming both, where grid, block, cluster or shared memory do not fit.
void checkShape(const Program &program, const device::LaunchConfig &config,
                const device::DeviceProps &props);

/// The bytes of the kernel's parameters. Throws where number or sizes differ.
std::vector<uint8_t> packArguments(const Program &program, std::span<const device::Arg> args);

} // namespace tile::vgpu
