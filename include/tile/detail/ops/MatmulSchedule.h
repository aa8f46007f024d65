// How a matmul's tiles are divided among programs, and the work on a tile among warps. The list is
// closed: what is not in it cannot be written.
#pragma once

#include <array>
#include <cstdint>

namespace tile::ops::detail {

/// K divided among `parts` programs, which add up their accumulators through global memory or, as
/// the blocks of a cluster, through each other's shared memory.
struct SplitK {
  enum class Through : uint8_t { Memory, Cluster };
  int parts = 1;
  Through through = Through::Memory;
};

/// In CUTLASS's terms: "warp specialized" has a producer warp that issues all TMA loads,
/// "multicast" a cluster of two blocks with consecutive tiles along M, which share the loads of B.
enum class MatmulSchedule : uint8_t {
  OneTile, ///< one tile per program
  SplitK2, ///< a part of a tile's K per program; the last one to finish adds up
  SplitK4,
  SplitK8,
  ClusterSplitK2, ///< the two blocks of a cluster have a part of a tile's K each
  Persistent,     ///< one program per multiprocessor; loads run ahead into the next tile
  WarpSpecialized,
  WarpSpecializedMulticast,
  WarpSpecializedSplitK2,
  WarpSpecializedSplitK4,
  WarpSpecializedSplitK8,
  PersistentWarpSpecialized,
  PersistentWarpSpecializedMulticast,
  PingPong, ///< persistent, warp specialized; two consumers alternate tiles
  PingPongMulticast,
};

/// A schedule's name in text, and what it consists of.
struct MatmulScheduleRow {
  MatmulSchedule schedule;
  const char *name;
  bool isPersistent = false, hasProducer = false, isPingPong = false;
  int multicast = 1; ///< blocks of a cluster that share loads
  SplitK split = {};

  /// Blocks per cluster.
  constexpr int clusterBlocks() const { return addsUpInCluster() ? split.parts : multicast; }
  constexpr bool addsUpInCluster() const {
    return split.parts > 1 && split.through == SplitK::Through::Cluster;
  }
  constexpr bool addsUpInMemory() const {
    return split.parts > 1 && split.through == SplitK::Through::Memory;
  }
};

/// By the number of the enumerator.
inline constexpr std::array kMatmulScheduleRows = [] {
  using enum MatmulSchedule;
  constexpr auto kMemory = SplitK::Through::Memory, kCluster = SplitK::Through::Cluster;
  constexpr bool no = false, yes = true;
  return std::array<MatmulScheduleRow, 15>{{
      // schedule, name, isPersistent, hasProducer, isPingPong, multicast, split
      {OneTile, "one_tile", no, no, no, 1},
      {SplitK2, "split_k_2", no, no, no, 1, {2, kMemory}},
      {SplitK4, "split_k_4", no, no, no, 1, {4, kMemory}},
      {SplitK8, "split_k_8", no, no, no, 1, {8, kMemory}},
      {ClusterSplitK2, "cluster_split_k_2", no, no, no, 1, {2, kCluster}},
      {Persistent, "persistent", yes, no, no, 1},
      {WarpSpecialized, "warp_specialized", no, yes, no, 1},
      {WarpSpecializedMulticast, "warp_specialized_multicast", no, yes, no, 2},
      {WarpSpecializedSplitK2, "warp_specialized_split_k_2", no, yes, no, 1, {2, kMemory}},
      {WarpSpecializedSplitK4, "warp_specialized_split_k_4", no, yes, no, 1, {4, kMemory}},
      {WarpSpecializedSplitK8, "warp_specialized_split_k_8", no, yes, no, 1, {8, kMemory}},
      {PersistentWarpSpecialized, "persistent_warp_specialized", yes, yes, no, 1},
      {PersistentWarpSpecializedMulticast, "persistent_warp_specialized_multicast", yes, yes, no,
       2},
      {PingPong, "ping_pong", yes, yes, yes, 1},
      {PingPongMulticast, "ping_pong_multicast", yes, yes, yes, 2},
  }};
}();

/// All of them, in order: the choices of a knob.
inline constexpr std::array kMatmulSchedules = [] {
  std::array<MatmulSchedule, kMatmulScheduleRows.size()> all{};
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = kMatmulScheduleRows[i].schedule;
  return all;
}();
static_assert(
    [] {
      for (size_t i = 0; i < kMatmulSchedules.size(); ++i)
        if (static_cast<size_t>(kMatmulSchedules[i]) != i)
          return false;
      return true;
    }(),
    "rows stand in the order of the enumerators");

constexpr const MatmulScheduleRow &rowOf(MatmulSchedule schedule) {
  return kMatmulScheduleRows[static_cast<size_t>(schedule)];
}
constexpr const char *nameOf(MatmulSchedule schedule) { return rowOf(schedule).name; }

/// One tile per program for 1 part, or split-K through memory in 2, 4 or 8 parts.
constexpr MatmulSchedule splitKSchedule(int parts, bool hasProducer) {
  using enum MatmulSchedule;
  switch (parts) {
  case 2:
    return hasProducer ? WarpSpecializedSplitK2 : SplitK2;
  case 4:
    return hasProducer ? WarpSpecializedSplitK4 : SplitK4;
  case 8:
    return hasProducer ? WarpSpecializedSplitK8 : SplitK8;
  default:
    return hasProducer ? WarpSpecialized : OneTile;
  }
}
constexpr MatmulSchedule persistentSchedule(bool hasProducer) {
  using enum MatmulSchedule;
  return hasProducer ? PersistentWarpSpecialized : Persistent;
}

} // namespace tile::ops::detail
