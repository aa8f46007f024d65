// Dependent launches (griddepcontrol): a kernel launched as one may start before those ahead of it
// in its stream have ended, once their blocks have let it by launch_dependents.
//
// We execute it after its predecessors but keep their shadow memory, and their clusters count as
// unordered with its own until a thread has waited (griddepcontrol.wait), and then for those that
// acquire from that thread. So accesses that would come too early on a GPU are reported although
// nothing here started early. A wait is for the launch before alone: if that ended without one of
// its own, those before it stay unordered with all that follow.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/check/Races.h"
#include "runtime/vgpu/machine/Program.h"
#include "runtime/vgpu/machine/Warp.h"

namespace tile::vgpu {

/// The parts of a launch that reports of its accesses need, also after it has ended.
struct Grid {
  std::shared_ptr<const Program> program;
  device::LaunchConfig config;
  uint32_t firstCluster = 0; // to the race shadow, its clusters count from here on

  uint32_t clusterSize() const { return static_cast<uint32_t>(config.cluster.count()); }
  uint64_t clusterCount() const { return config.grid.count() / clusterSize(); }
  uint32_t warpsPerBlock() const {
    return static_cast<uint32_t>((config.block.count() + kLanes - 1) / kLanes);
  }
  /// The index in the grid of the block of `rank` in a cluster.
  uint64_t blockIndex(uint64_t cluster, uint32_t rank) const;
  /// The coordinates of the block of that index.
  device::Dim3 coordinatesOf(uint64_t block) const;
};

/// The shadow of the accesses of launches that may still run when the next one of their stream
/// starts, and whose they are.
struct GridsInFlight {
  std::vector<Grid> grids;     // in order
  uint32_t endedBelow = 0;     // clusters that have ended before any other can start
  uint32_t endedFrom = ~0u;    // so have those from here on
  uint32_t unawaitedBelow = 0; // clusters whose end does not follow from that of the last grid
  std::unique_ptr<GlobalRaces> races;
  SyncVariables sync;

  uint32_t nextCluster() const {
    return grids.empty()
               ? 0
               : grids.back().firstCluster + static_cast<uint32_t>(grids.back().clusterCount());
  }
  /// Takes all but the last kMostInFlight for ended, so that a chain without end needs no memory
  /// without end: a GPU would need room for the blocks of all of them.
  void settleOldest();
};

inline constexpr size_t kMostInFlight = 32;

} // namespace tile::vgpu
