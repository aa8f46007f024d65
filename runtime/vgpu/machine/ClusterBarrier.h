// barrier.cluster, and what else blocks of a cluster do with each other's shared memory.
#pragma once

#include "runtime/vgpu/machine/Cluster.h"

namespace tile::vgpu {

/// The threads of a cluster that have not exited.
uint32_t expectedThreads(const Cluster &cluster);

/// A warp has exited: the cluster's barrier no longer waits for it.
void noteExit(Cluster &cluster);

} // namespace tile::vgpu
