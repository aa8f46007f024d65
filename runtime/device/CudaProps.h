// What a CUDA device says of itself.
#pragma once

#include "runtime/device/CudaContext.h"
#include "runtime/device/Device.h"

namespace tile::device {

/// Blocks that a cluster may have without being asked for.
constexpr int kPortableClusterSize = 8;

/// `ordinal` is the device's number.
DeviceProps cudaProps(const CudaContext &context, int ordinal);

} // namespace tile::device
