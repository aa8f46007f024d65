// Fills the rows of special registers: the coordinates of a thread in its launch, and the shape of
// the launch.
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/Targets.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr uint32_t kReservedBytes = 288; // in use, of those before kSharedBase

constexpr uint32_t roundUp(uint32_t bytes, uint32_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// The shared memory of a block, with dynamic memory that the kernel does not name, and static
// memory in the unit it is given in.
uint32_t occupiedSharedBytes(const Launch &launch) {
  constexpr uint32_t kStaticUnit = 16;
  return std::max(launch.sharedBytes(), roundUp(launch.program().staticSharedBytes, kStaticUnit) +
                                            launch.setup().config.dynamicSharedBytes);
}

} // namespace

uint64_t Launch::specialValue(const Cta &cta, Special what, unsigned warp, unsigned lane) const {
  const device::LaunchConfig &config = setup_.config;
  uint32_t thread = warp * kLanes + lane;
  auto pick = [&](const device::Dim3 &dim, int axis) {
    return axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z;
  };
  auto axisFrom = [&](Special first) { return static_cast<int>(what) - static_cast<int>(first); };
  if (what >= Special::NtidX && what <= Special::NtidZ)
    return pick(config.block, axisFrom(Special::NtidX));
  if (what >= Special::CtaidX && what <= Special::CtaidZ)
    return cta.id[axisFrom(Special::CtaidX)];
  if (what >= Special::NctaidX && what <= Special::NctaidZ)
    return pick(config.grid, axisFrom(Special::NctaidX));
  auto clusterPick = [&](int axis) { return pick(config.cluster, axis); };
  if (what >= Special::ClusterIdX && what <= Special::ClusterIdZ) {
    int axis = axisFrom(Special::ClusterIdX);
    return cta.id[axis] / clusterPick(axis);
  }
  if (what >= Special::NclusterIdX && what <= Special::NclusterIdZ) {
    int axis = axisFrom(Special::NclusterIdX);
    return pick(config.grid, axis) / clusterPick(axis);
  }
  if (what >= Special::ClusterCtaidX && what <= Special::ClusterCtaidZ) {
    int axis = axisFrom(Special::ClusterCtaidX);
    return cta.id[axis] % clusterPick(axis);
  }
  if (what >= Special::ClusterNctaidX && what <= Special::ClusterNctaidZ)
    return clusterPick(axisFrom(Special::ClusterNctaidX));
  switch (what) {
  case Special::TidX:
    return thread % config.block.x;
  case Special::TidY:
    return thread / config.block.x % config.block.y;
  case Special::TidZ:
    return thread / config.block.x / config.block.y;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp;
  case Special::NwarpId: // of the multiprocessor, whatever the block
    return warpsPerSm(setup_.props);
  case Special::SmId:
    return cta.index % static_cast<uint32_t>(setup_.props.smCount);
  case Special::NsmId:
    return static_cast<uint32_t>(setup_.props.smCount);
  case Special::LaneMaskEq:
    return 1u << lane;
  case Special::LaneMaskLe:
    return (2u << lane) - 1;
  case Special::LaneMaskLt:
    return (1u << lane) - 1;
  case Special::LaneMaskGe:
    return ~((1u << lane) - 1);
  case Special::LaneMaskGt:
    return ~((2u << lane) - 1);
  case Special::DynamicSharedSize:
    return config.dynamicSharedBytes;
  case Special::TotalSharedSize: {
    constexpr uint32_t kUnit = 128; // of what a block is given
    return roundUp(occupiedSharedBytes(*this), kUnit);
  }
  case Special::ClusterCtarank:
    return cta.rank;
  case Special::ClusterNctarank:
    return clusterSize();
  case Special::IsExplicitCluster: // a predicate, a bit for each lane
    return clusterSize() > 1 || program().entry->requiredCluster[0] != 0 ? kFullMask : 0;
  case Special::ReservedSharedEnd:
    return kReservedBytes;
  case Special::ReservedSharedCap:
    return kSharedBase;
  case Special::AggregateSharedSize:
    return occupiedSharedBytes(*this) + kSharedBase;
  default: // gridid, where reserved shared memory begins, and what nobody fills
    return 0;
  }
}

void Launch::fillSpecials(Warp &warp) const {
  for (const Program::SpecialRow &special : program().specials) {
    uint32_t *row = warp.row<uint32_t>(special.row);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      row[lane] = static_cast<uint32_t>(specialValue(*warp.cta, special.what, warp.index, lane));
  }
}

} // namespace tile::vgpu
