// Says what a race is: both accesses, where they meet, and what was to stand between them.
#include "runtime/vgpu/machine/access/RaceReport.h"

#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/Access.h"

namespace tile::vgpu {
namespace {

const char *verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read:
  case AccessKind::StrongRead:
  case AccessKind::NarrowRead:
    return "read";
  case AccessKind::Atomic:
  case AccessKind::NarrowAtomic:
    return "atomic access";
  case AccessKind::CopyWrite:
    return "cp.async in flight";
  case AccessKind::ProxyRead:
    return "asynchronous read";
  case AccessKind::ProxyWrite:
    return "asynchronous write";
  case AccessKind::ProxyReduction:
    return "asynchronous reduction";
  default:
    return "write";
  }
}

std::string remedyBetweenLaunches(uint32_t cluster, const Accessor &accessor) {
  if (cluster < accessor.context->unawaitedBelow && accessor.clock->hasAcquiredGrids())
    return "that launch may still run, since one between them has ended without "
           "griddepcontrol.wait: a thread of each dependent launch must execute it";
  return "the launch before may still run, griddepcontrol.wait must come first";
}

std::string remedyFor(FindingKind which, AccessKind earlier) {
  switch (which) {
  case FindingKind::AsyncRace:
    return earlier == AccessKind::CopyWrite
               ? "wait for the copy (cp.async.wait_group and a barrier) first"
               : "wait for its mbarrier or group first";
  case FindingKind::Proxy:
    return "fence.proxy.async must stand between them";
  case FindingKind::WarpRace:
    return "lanes of one warp need bar.warp.sync between them";
  default:
    return "no barrier orders them";
  }
}

OtherAccess otherAccess(AccessRecord earlier, uint32_t cluster, const Accessor &accessor) {
  const Launch &launch = *accessor.warp->cta->launch;
  const Grid &grid = launch.gridOf(cluster);
  const Program &program = *grid.program;
  OtherAccess other;
  if (earlier.instruction != AccessRecord::kLastInstruction &&
      earlier.instruction < program.lines.size())
    static_cast<CodeLocation &>(other) =
        locationOf(program, static_cast<uint32_t>(earlier.instruction));
  other.access = verb(earlier.kind());
  other.inEarlierLaunch = cluster < launch.raceContext().firstCluster;
  uint32_t warps = grid.warpsPerBlock(), rank = static_cast<uint32_t>(earlier.actor) / warps;
  other.isAsynchronous = rank >= grid.clusterSize();
  if (other.isAsynchronous)
    return other;
  other.kernel = program.entry->name;
  other.clusterIndex = cluster - grid.firstCluster;
  other.ctaIndex = grid.blockIndex(other.clusterIndex, rank);
  other.cta = grid.coordinatesOf(other.ctaIndex);
  other.warp = static_cast<uint32_t>(earlier.actor % warps);
  if (earlier.lane != AccessRecord::kSeveralLanes)
    other.lane = static_cast<uint32_t>(earlier.lane);
  return other;
}

} // namespace

void reportConflict(const RaceConflict &conflict, const Accessor &accessor) {
  const auto &[earlier, cluster, where, which] = conflict;
  Warp &warp = *accessor.warp;
  Launch &launch = *warp.cta->launch;
  bool isAsync = which == FindingKind::AsyncRace || which == FindingKind::Proxy;
  if (!(isAsync ? launch.checks().async : launch.checks().race))
    return;
  bool isSeveral = accessor.lane == AccessRecord::kSeveralLanes;
  LaneMask lanes{isSeveral ? warp.mask : 1u << accessor.lane};
  if (warp.repeats(*accessor.op, which, lanes))
    return;
  bool isShared = where.space == Space::Shared;
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(where.address));
  std::string earlierText = (earlier.kind() == AccessKind::CopyWrite ? "a " : "an earlier ") +
                            std::string(verb(earlier.kind()));
  const char *relation = which != FindingKind::Proxy ? " conflicts with "
                         : isWrite(earlier.kind())   ? " does not see "
                                                     : " may overtake ";
  Finding finding = launch.findingAt(
      warp, *accessor.op, which, static_cast<unsigned>(std::countr_zero(lanes.bits)),
      std::string(verb(accessor.kind())) + " of " + (isShared ? "shared" : "global") + " address " +
          address + (isShared ? "" : " (" + launch.memory().describe(where.address) + ")") +
          relation + earlierText + ": " +
          (cluster < launch.raceContext().firstCluster ? remedyBetweenLaunches(cluster, accessor)
                                                       : remedyFor(which, earlier.kind())));
  finding.lanes = lanes.bits;
  finding.space = where.space;
  finding.address = where.address;
  finding.other = otherAccess(earlier, cluster, accessor);
  bool isOfAnotherBlock = which == FindingKind::Race && !finding.other->isAsynchronous &&
                          !finding.other->inEarlierLaunch &&
                          finding.other->ctaIndex != finding.ctaIndex;
  if (isOfAnotherBlock && !isShared)
    finding.message += "; blocks run in any order, only atomics order them";
  finding.allocation = isShared ? sharedLocationOf(launch, where.address)
                                : launch.memory().locationOf(where.address);
  warp.report(std::move(finding));
}

} // namespace tile::vgpu
