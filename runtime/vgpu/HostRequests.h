// Checks requests of the host, whose faults are errors of the caller.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/machine/Hex.h"
#include "runtime/vgpu/machine/Memory.h"

#include <tile/Error.h>

namespace tile::vgpu {

[[noreturn]] void fail(ErrorCode code, const std::string &message);
/// Throws unless the bytes lie in a live allocation; none of them may be anywhere in one.
void requireRange(const GlobalMemory &memory, const char *what, device::DevicePtr pointer,
                  size_t bytes);
/// Throws if there are bytes to copy, but no place.
void requireHostPointer(const char *what, const void *pointer, size_t bytes);

} // namespace tile::vgpu
