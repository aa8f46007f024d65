// The rules: whether an earlier access is ordered before one that is about to happen, and what is
// reported if not.
#pragma once

#include "runtime/vgpu/check/Accessor.h"

namespace tile::vgpu {

// True if `cluster` belongs to a launch before this one that has ended, or that the accessor has
// waited for. A wait is for the launch before; those before that it covers if that has waited.
inline bool hasEnded(uint32_t cluster, const Accessor &accessor) {
  const RaceContext &context = *accessor.context;
  if (cluster >= context.firstCluster)
    return false;
  if (cluster < context.endedBelow || cluster >= context.endedFrom)
    return true;
  return cluster >= context.unawaitedBelow && accessor.clock->hasAcquiredGrids();
}

// The clock that the accessor has for the actors of a cluster; null if it has acquired nothing from
// it.
inline const Clocks *clocksOf(const WarpClock &clock, uint32_t cluster) {
  if (cluster == clock.cluster)
    return &clock.current.own;
  auto found = clock.current.others.find(cluster);
  return found == clock.current.others.end() ? nullptr : found->second.get();
}

// True if the accessor's own warp made the access.
inline bool isOwn(AccessRecord earlier, uint32_t cluster, const Accessor &accessor) {
  const WarpClock &clock = *accessor.clock;
  return cluster == clock.cluster && earlier.actor == clock.actor;
}

// True if `earlier` happened before what the accessor does now.
inline bool isOrdered(AccessRecord earlier, uint32_t cluster, const Accessor &accessor) {
  const WarpClock &clock = *accessor.clock;
  // Program order holds for a lane alone; others of its warp must have synchronised with it.
  if (isOwn(earlier, cluster, accessor))
    return (accessor.ordersOwnAccess && earlier.lane == accessor.lane) ||
           clock.lanesAcquired.covers(earlier.actor, earlier.lane, earlier.clock);
  const Clocks *clocks = clocksOf(clock, cluster);
  if (clocks && clocks->ordered.covers(earlier.actor, earlier.lane, earlier.clock))
    return true;
  return cluster != clock.cluster && hasEnded(cluster, accessor);
}

// True if the access was made by what completes asynchronous operations, whose actors come after
// the warps of the cluster.
inline bool isAsynchronous(AccessRecord earlier, uint32_t cluster, const Accessor &accessor) {
  const RaceContext &context = *accessor.context;
  return cluster >= context.firstCluster &&
         earlier.actor >= context.clusterSize * accessor.clock->blockWarps;
}

// Strong accesses do not race if the scope of each covers the other's block.
inline bool areStrongTogether(AccessRecord earlier, uint32_t cluster, const Accessor &accessor) {
  if (!isStrong(earlier.kind()) || !isStrong(accessor.kind()))
    return false;
  if (!isNarrow(earlier.kind()) && !isNarrow(accessor.kind()))
    return true;
  const WarpClock &clock = *accessor.clock;
  return cluster == clock.cluster && earlier.actor - clock.blockBegin < clock.blockWarps;
}

// True if `earlier` went through the generic proxy, the accessor's goes through the asynchronous
// one, and no fence is between.
inline bool isUnfenced(AccessRecord earlier, uint32_t cluster, const Accessor &accessor) {
  if (!accessor.proxy || isProxied(earlier.kind()) ||
      !(isWrite(earlier.kind()) || accessor.fencesReads))
    return false;
  const Clocks *clocks = clocksOf(*accessor.clock, cluster);
  return !(clocks && clocks->proxied.covers(earlier.actor, earlier.lane, earlier.clock)) &&
         !hasEnded(cluster, accessor);
}

inline void report(const RaceConflict &conflict, const Accessor &accessor) {
  accessor.context->report(conflict, accessor);
}

// Reports a missing proxy fence.
inline bool lacksFence(AccessRecord earlier, uint32_t cluster, const Accessor &accessor,
                       const RaceAddress &where) {
  if (!isUnfenced(earlier, cluster, accessor))
    return false;
  report({earlier, cluster, where, FindingKind::Proxy}, accessor);
  return true;
}

// True if whoever is ordered after the accessor's read, and through a fence if the proxies differ,
// is after `read` as well.
inline bool isImplied(AccessRecord read, uint32_t cluster, const Accessor &accessor) {
  return isOrdered(read, cluster, accessor) && !isUnfenced(read, cluster, accessor);
}

// True, and reported, if nothing orders `earlier` before the accessor's access.
inline bool conflicts(AccessRecord earlier, uint32_t cluster, const Accessor &accessor,
                      const RaceAddress &where) {
  if (!earlier || (!isWrite(earlier.kind()) && !isWrite(accessor.kind())))
    return false;
  // A copy in flight has no end yet that anything could be ordered after.
  if (earlier.kind() == AccessKind::CopyWrite) {
    report({earlier, cluster, where, FindingKind::AsyncRace}, accessor);
    return true;
  }
  if (areStrongTogether(earlier, cluster, accessor))
    return false;
  if (!isOrdered(earlier, cluster, accessor)) {
    report({earlier, cluster, where,
            isAsynchronous(earlier, cluster, accessor) ? FindingKind::AsyncRace
            : isOwn(earlier, cluster, accessor)        ? FindingKind::WarpRace
                                                       : FindingKind::Race},
           accessor);
    return true;
  }
  return lacksFence(earlier, cluster, accessor, where);
}

} // namespace tile::vgpu
