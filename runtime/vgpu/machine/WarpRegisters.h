// setmaxnreg: the registers that warps of a block hand to each other.
#pragma once

#include <string>

namespace tile::vgpu {

struct Warp;
struct Op;

/// At the exit of a warp: the warps of its warpgroup that have exited must have executed setmaxnreg as often.
void checkRegisterChanges(Warp &warp);
/// What a warp at `op` waits for, if that is setmaxnreg.inc; else nothing.
std::string registerWaitText(const Warp &warp, const Op &op);

} // namespace tile::vgpu
