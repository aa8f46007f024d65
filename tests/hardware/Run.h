// Runs a probe on a device.
#pragma once

#include "tests/hardware/Probe.h"

namespace tile::hardware {

/// The virtual GPU as sm_90a, without checks; with TILE_DEVICE=cuda or cuda:N that GPU.
std::shared_ptr<device::Device> openProbed();

/// What the probe writes. Throws tile::Error if the device refuses it, or it fails.
Outputs run(device::Device &device, const Probe &probe);

} // namespace tile::hardware
