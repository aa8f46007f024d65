// The order in which an assembler would put instructions: between those that keep their place
// (memory, control, synchronization) the longest chains go first.
#pragma once

#include "runtime/vgpu/time/TimedProgram.h"

namespace tile::vgpu {

/// Reorders TimedProgram::code and TimedProgram::ops within their basic blocks.
void scheduleInstructions(TimedProgram &program);

} // namespace tile::vgpu
