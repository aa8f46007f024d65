// Counts the cost of an access: wavefronts of shared memory, sectors and lines of global memory.
#pragma once

#include "runtime/vgpu/machine/access/Access.h"

namespace tile::vgpu {

class DistinctSectors;

/// Adds a resolved access of a warp to the counters of its instruction and the sectors of its
/// launch.
void countAccess(Counters &counters, const Access &access, DistinctSectors &distinct);
/// Counts the distinct sectors of a range of global memory that a copy reads or writes by itself.
/// Of no effect unless counters are on.
void countRange(Launch &launch, AccessKind kind, uint64_t address, uint64_t bytes);

/// Counts bytes that `op` has handed to a copy that goes on by itself. Of no effect unless counters
/// are on.
void countAsyncBytes(Warp &warp, const Op &op, uint64_t bytes);
/// Counts that bytes of the block's shared memory, [address, address + bytes), are in use.
void countSharedTouched(Cta &cta, uint64_t address, uint64_t bytes);

} // namespace tile::vgpu
