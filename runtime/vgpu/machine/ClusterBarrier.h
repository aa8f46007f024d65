// barrier.cluster: where the blocks of a cluster meet.
#pragma once

#include "runtime/vgpu/machine/Cluster.h"

namespace tile::vgpu {

/// The threads of a cluster that have not exited.
uint32_t expectedThreads(const Cluster &cluster);

/// A warp has exited: the cluster's barrier no longer waits for it.
void noteExit(Cluster &cluster);

/// Op::a of barrier.cluster: all lanes of the warp must come together; arriving orders no memory.
constexpr uint32_t kClusterAligned = 1, kClusterRelaxed = 2;
/// barrier.cluster.arrive and .wait.
void clusterArrive(Warp &warp, const Op &op);
void clusterWait(Warp &warp, const Op &op);

} // namespace tile::vgpu
