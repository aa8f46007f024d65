// setmaxnreg: the registers that warps of a block hand to each other.
#pragma once

namespace tile::vgpu {

struct Warp;

/// At the exit of a warp: the warps of its warpgroup that have exited must have executed setmaxnreg as often.
void checkRegisterChanges(Warp &warp);

} // namespace tile::vgpu
