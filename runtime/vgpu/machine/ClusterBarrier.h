// barrier.cluster: where the blocks of a cluster meet.
#pragma once

#include "runtime/vgpu/machine/Cluster.h"

namespace tile::vgpu {

/// The threads of a cluster that have not exited.
uint32_t expectedThreads(const Cluster &cluster);

/// A warp has exited: the cluster's barrier no longer waits for it.
void noteExit(Cluster &cluster);

struct ClusterBarrierForm {
  bool isAligned = false; ///< all lanes of the warp must come together
  bool isRelaxed = false; ///< arriving orders no memory
};
/// barrier.cluster.arrive and .wait.
void clusterArrive(Warp &warp, const Op &op);
void clusterWait(Warp &warp, const Op &op);

} // namespace tile::vgpu
