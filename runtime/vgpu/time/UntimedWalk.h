// Steps a warp to its end without time: every wait passes, work is taken in turns. It tells which
// loads a block makes.
#pragma once

#include "runtime/vgpu/time/TimedLaunch.h"

#include <functional>

namespace tile::vgpu {

/// What is to be known of an operation that lanes are about to execute. False: the walk ends.
using WalkVisitor = std::function<bool(TimedWarp &warp, uint32_t pc, uint32_t lanes)>;

/// `fetches` counts the work that the block has taken. Throws what the interpreter says of a kernel
/// that it stops.
void walkUntimed(TimedLaunch &launch, Warp &warp, uint64_t &fetches, const WalkVisitor &visit);

} // namespace tile::vgpu
