// Dependent launches (griddepcontrol): a kernel launched as one may start before those ahead of it in its stream have ended, once
// their blocks have let it by launch_dependents.
//
// It runs after them here, but goes on with their race shadow: to the checkers nothing orders what both touch, until somebody waits
// (griddepcontrol.wait), and then for whoever hears of it. So what starts too early is found although it did not start early.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/check/Races.h"
#include "runtime/vgpu/machine/Program.h"
#include "runtime/vgpu/machine/Warp.h"

namespace tile::vgpu {

/// A launch, as far as reports of its accesses need it.
struct Grid {
  std::shared_ptr<const Program> program;
  device::LaunchConfig config;
  uint32_t firstCluster = 0; // to the race shadow, its clusters count from here on

  uint32_t clusterSize() const { return static_cast<uint32_t>(config.cluster.count()); }
  uint64_t clusterCount() const { return config.grid.count() / clusterSize(); }
  uint32_t warpsPerBlock() const {
    return static_cast<uint32_t>((config.block.count() + kLanes - 1) / kLanes);
  }
  /// The index in the grid of a block of a cluster.
  uint64_t blockIndex(uint64_t cluster, uint32_t rank) const;
  /// Where the block of that index is in the grid.
  device::Dim3 coordinatesOf(uint64_t block) const;
};

/// What a launch leaves behind that has let the next one of its stream start: the shadow of its accesses, and whose they are.
struct GridsInFlight {
  std::vector<Grid> grids; // in order
  uint32_t endedBelow = 0; // clusters that have ended before any other can start
  std::unique_ptr<GlobalRaces> races;
  SyncVariables sync;

  uint32_t nextCluster() const {
    return grids.empty()
               ? 0
               : grids.back().firstCluster + static_cast<uint32_t>(grids.back().clusterCount());
  }
};

} // namespace tile::vgpu
