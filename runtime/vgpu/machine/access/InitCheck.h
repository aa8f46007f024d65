// Uninitialised data: follows, lane by lane, which registers hold values that were never written.
//
// A value computed from an uninitialised one is uninitialised; it is reported only where it matters: in an address, a
// condition, or a store to global memory. Shared and local memory carry the mark byte by byte.
#pragma once

#include "runtime/vgpu/machine/Program.h"

#include <string>

namespace tile::vgpu {

/// The handler that runs `op` and then derives the state of its targets from its sources.
Handler initTrackingHandler(const Op &op);

/// The message of a finding: `what` depends on data that were never written. Names the last such load of the warp, which
/// nearly always is where they came from, and what to do about it.
std::string unwrittenText(Warp &warp, const std::string &what);

/// Reports if the condition in `row` is uninitialised for an active lane.
void checkCondition(Warp &warp, const Op &op, uint32_t row);
/// Reports if the address in `row` is uninitialised for an active lane.
void checkAddress(Warp &warp, const Op &op, uint32_t row);

} // namespace tile::vgpu
