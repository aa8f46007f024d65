// Reports of accesses that nothing orders.
#pragma once

#include "runtime/vgpu/check/RaceCell.h"

namespace tile::vgpu {

/// Reports the accessor's access, if the check for its kind runs: `earlier`, of that cluster, is not ordered before it.
void reportConflict(Stamp earlier, uint32_t cluster, const Accessor &accessor,
                    const RacePlace &place, FindingKind kind);

} // namespace tile::vgpu
