// Converts between clusters, indices and coordinates of blocks; lets the oldest launches of a chain end.
#include "runtime/vgpu/machine/DependentLaunch.h"

#include <algorithm>

namespace tile::vgpu {

// Clusters tile the grid; ranks count inside them, x first.
uint64_t Grid::blockIndex(uint64_t cluster, uint32_t rank) const {
  const device::Dim3 &grid = config.grid, &shape = config.cluster;
  uint64_t across = grid.x / shape.x, down = grid.y / shape.y;
  uint64_t x = cluster % across * shape.x + rank % shape.x;
  uint64_t y = cluster / across % down * shape.y + rank / shape.x % shape.y;
  uint64_t z = cluster / across / down * shape.z + rank / shape.x / shape.y;
  return (z * grid.y + y) * grid.x + x;
}

device::Dim3 Grid::coordinatesOf(uint64_t block) const {
  const device::Dim3 &grid = config.grid;
  return {static_cast<uint32_t>(block % grid.x), static_cast<uint32_t>(block / grid.x % grid.y),
          static_cast<uint32_t>(block / grid.x / grid.y)};
}

void GridsInFlight::settleOldest() {
  if (grids.size() <= kMostInFlight)
    return;
  auto kept = grids.end() - static_cast<ptrdiff_t>(kMostInFlight);
  endedBelow = std::max(endedBelow, kept->firstCluster);
  grids.erase(grids.begin(), kept);
}

} // namespace tile::vgpu
