// What the blocks of a launch load, in which order, found out without time: every wait passes.
#pragma once

#include "runtime/vgpu/time/TimedLaunch.h"

#include <unordered_set>
#include <vector>

namespace tile::vgpu {

struct Footprint {
  /// The boxes that bulk copies load, place by place, in order; what a place's later blocks load
  /// follows.
  std::vector<std::vector<Box>> boxes;
  /// The sectors of 32 bytes that plain loads of different blocks have in common.
  std::unordered_set<uint64_t> sharedSectors;
};

/// Calls visit(address) for each unit of the box inside its tensor: eight rows of a line of 128
/// bytes.
template <class Visit> void forUnits(const Box &box, Visit visit) {
  constexpr uint32_t kLineBytes = 128, kRows = 8;
  const device::TensorMapParams &map = *box.map;
  auto element = static_cast<uint32_t>(device::sizeOf(map.type));
  uint32_t steps[device::kMaxTensorRank] = {kLineBytes / element, kRows, 1, 1, 1},
           index[device::kMaxTensorRank] = {};
  for (;;) {
    bool isInside = true;
    uint64_t address = map.base;
    for (uint32_t d = 0; d < map.rank; ++d) {
      int64_t where = int64_t{box.at[d]} + int64_t{index[d]} * (d ? map.elementStrides[d] : 1);
      isInside = isInside && where >= 0 && static_cast<uint64_t>(where) < map.dims[d];
      address += static_cast<uint64_t>(where) * (d ? map.strides[d - 1] : element);
    }
    if (isInside)
      visit(address);
    uint32_t d = 0;
    while (d < map.rank && (index[d] += steps[d]) >= copiedExtent(map, d))
      index[d++] = 0;
    if (d >= map.rank)
      return;
  }
}

/// Runs the blocks of every place until each has loaded kMostLoads boxes. Of kernels that load by
/// plain instructions it runs two blocks, to see what blocks have in common.
Footprint findFootprint(TimedLaunch &launch);

} // namespace tile::vgpu
