// What the virtual GPU can claim to be, and which PTX it then takes.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/Ptx.h"

namespace tile::vgpu {

/// What a GPU of that name is and has. Throws InvalidArgument for names that there are not.
device::DeviceProps propsFor(const std::string &target);

/// Throws unless PTX for the module's `.target` runs on a device with these properties.
void checkTarget(const Module &module, const device::DeviceProps &props);

} // namespace tile::vgpu
