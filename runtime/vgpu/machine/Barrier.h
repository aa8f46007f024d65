// Named barriers of a block: who has arrived, who waits, and what a warp's exit means to those waiting.
#pragma once

#include "runtime/vgpu/machine/Warp.h"

namespace tile::vgpu {

/// The threads the barrier's open phase waits for.
uint32_t expectedThreads(const Cta &cta, const Barrier &barrier);

/// Ends the phases of barriers of the whole block that wait for nobody any more: the last ones have exited.
void releaseComplete(Cta &cta);

/// A warp has exited: barriers of the whole block no longer wait for it.
void noteExit(Warp &warp);

} // namespace tile::vgpu
