// Turns accesses that nothing orders into findings.
#pragma once

#include "runtime/vgpu/check/Accessor.h"

namespace tile::vgpu {

/// Reports a conflict of the accessor's access, if the check for its kind runs: what RaceContext::report calls.
void reportConflict(const RaceConflict &conflict, const Accessor &accessor);

} // namespace tile::vgpu
