// The sixteen named barriers of a block, which `bar.sync` and `bar.arrive` name by number. Only
// this table assigns the numbers.
#pragma once

#include "ir/gpu/WarpRoles.h"
#include "ir/instructions/Wgmma.h"
#include "ir/target/Target.h"

namespace tile::gpu {

inline constexpr int32_t kNamedBarriers = 16;

/// The first number of each use.
enum class NamedBarrier : int32_t {
  /// The consumer warps of all teams; in a kernel without roles all threads.
  Consumers = 0,
  /// The ordered barrier: warpgroup g waits at 1 + g, where the warpgroup before it arrives.
  FirstWarpgroup = 1,
  /// The warps of team t synchronize at 8 + t.
  FirstTeam = 8,
  /// The producer warp and all consumer warps.
  Roles = 15
};

constexpr int32_t numberOf(NamedBarrier barrier) { return static_cast<int32_t>(barrier); }

// Only kernels with a producer have teams (PlaceTeams), so warpgroups of other kernels may use the
// numbers of teams.
static_assert(numberOf(NamedBarrier::FirstWarpgroup) +
                  (kMostWarps - kProducerWarps) / ir::kWarpsPerWarpgroup <=
              numberOf(NamedBarrier::FirstTeam));
static_assert(numberOf(NamedBarrier::FirstWarpgroup) + kMostWarps / ir::kWarpsPerWarpgroup <=
              numberOf(NamedBarrier::Roles));
static_assert(numberOf(NamedBarrier::FirstTeam) + ir::kMostTeams <= numberOf(NamedBarrier::Roles));
static_assert(numberOf(NamedBarrier::Roles) < kNamedBarriers);

} // namespace tile::gpu
