// Executes barrier.cluster.
#include "runtime/vgpu/machine/ClusterBarrier.h"

#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/OpForm.h"

namespace tile::vgpu {

uint32_t expectedThreads(const Cluster &cluster) {
  uint32_t threads = 0;
  for (const auto &cta : cluster.ctas)
    for (const Warp &warp : cta->warps)
      threads += static_cast<uint32_t>(std::popcount(warp.live()));
  return threads;
}

static void completePhase(Cluster &cluster) {
  ClusterBarrier &barrier = cluster.barrier;
  ++barrier.phase;
  barrier.arrived = 0;
  barrier.completed = std::move(barrier.arriving);
  barrier.arriving = {};
  ++*cluster.events;
  for (auto &cta : cluster.ctas)
    for (Warp &warp : cta->warps)
      if (warp.status == WarpStatus::AtClusterBarrier && warp.clusterPhase < barrier.phase) {
        warp.status = WarpStatus::Ready;
        warp.clock.wait(barrier.completed, kFullMask);
      }
}

void noteExit(Cluster &cluster) {
  if (cluster.barrier.arrived && cluster.barrier.arrived >= expectedThreads(cluster))
    completePhase(cluster);
}

static bool takesWholeWarp(Warp &warp, const Op &op) {
  if (!warp.converged(op, kFullMask))
    return false;
  if (formOf<ClusterBarrierForm>(op).isAligned && warp.mask != warp.live() &&
      warp.cta->launch->checks().sync)
    warp.report(op, FindingKind::Divergence, LaneMask{warp.mask},
                "only " + std::to_string(std::popcount(warp.mask)) + " of " +
                    std::to_string(std::popcount(warp.live())) +
                    " lanes take part in an aligned barrier");
  return true;
}

void clusterArrive(Warp &warp, const Op &op) {
  if (!takesWholeWarp(warp, op))
    return;
  Cluster &cluster = *warp.cta->cluster;
  ClusterBarrier &barrier = cluster.barrier;
  if (warp.isArrived)
    warp.stop(op, FindingKind::Barrier, LaneMask{warp.mask},
              "the warp arrives again before it has waited for the phase it arrived in");
  warp.isArrived = true;
  warp.clusterPhase = barrier.phase;
  if (formOf<ClusterBarrierForm>(op).isRelaxed)
    warp.clock.arriveRelaxed(barrier.arriving);
  else
    warp.clock.arrive(barrier.arriving, warp.mask);
  barrier.arrived += static_cast<uint32_t>(std::popcount(warp.mask));
  ++*cluster.events;
  if (barrier.arrived >= expectedThreads(cluster))
    completePhase(cluster);
}

void clusterWait(Warp &warp, const Op &op) {
  if (!takesWholeWarp(warp, op))
    return;
  ClusterBarrier &barrier = warp.cta->cluster->barrier;
  if (!warp.isArrived)
    warp.stop(op, FindingKind::Barrier, LaneMask{warp.mask},
              "the warp waits for the cluster without having arrived");
  warp.isArrived = false;
  if (barrier.phase > warp.clusterPhase)
    warp.clock.wait(barrier.completed, kFullMask);
  else
    warp.block(WarpStatus::AtClusterBarrier, 0);
}

} // namespace tile::vgpu
