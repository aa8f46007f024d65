// The GPUs that the virtual GPU can claim to be, and the PTX that each takes.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/ptx/Ptx.h"

namespace tile::vgpu {

/// The properties of a GPU by its name. Throws InvalidArgument for unknown names.
device::DeviceProps propsFor(const std::string &target);

/// Shared memory that each block takes beside its own, since sm_80.
constexpr size_t kReservedSharedBytes = 1024;

/// The number of blocks of a launch that the GPU of that name holds at a time, if their registers
/// allow it.
uint32_t residentBlocks(const device::DeviceProps &props, uint32_t threads, size_t sharedBytes);

/// Places for warps in a multiprocessor.
uint32_t warpsPerSm(const device::DeviceProps &props);

/// The target to open a virtual GPU as for PTX with this `.target`: the least from sm_80 on that
/// runs it. PTX beyond all of them gets its own name, which opening refuses.
std::string targetFor(std::string_view ptxTarget);

/// Throws unless PTX for the module's `.target` runs on a device with these properties.
void checkTarget(const Module &module, const device::DeviceProps &props);

} // namespace tile::vgpu
