// A model, and labelled so: the least time that each resource of a GPU would need for what the virtual GPU has counted.
// No latency, no dependence between instructions, an ideal cache: hardware is slower, and nothing finer is claimed.
#pragma once

#include "codegen/report/Roofline.h"
#include "runtime/vgpu/VgpuDevice.h"

#include <string>
#include <vector>

namespace tile::tilec {

struct LowerBounds {
  struct Resource {
    const char *name;
    double microseconds = 0;
  };

  ir::Card card{};                 ///< the one that stands for the device's target
  uint64_t multiprocessors = 0;    ///< that the blocks can keep busy
  std::vector<Resource> resources; ///< those that something was asked of
};

/// Of all that the device has counted, in launches of `blocks` blocks together.
LowerBounds lowerBoundsOf(const vgpu::VirtualDevice &device, uint64_t blocks);
/// A table for people.
std::string lowerBoundTable(const LowerBounds &bounds);

} // namespace tile::tilec
