// wgmma: products of the four warps of a warpgroup, with operands in shared memory, that go on while the warps do.
//
// A warp waits at a wgmma until the other three are at the same one; then it is issued for all four. Under the eager
// schedule it is computed there, together with its neighbours in the program, otherwise when a wait demands it, from what shared memory holds by then.
#pragma once

#include "runtime/vgpu/isa/tensor/TensorCore.h"
#include "runtime/vgpu/machine/Warp.h"

namespace tile::vgpu {

/// The rows of D, and of A if it is in registers, of a wgmma.mma_async; empty for any other operation.
std::vector<uint32_t> matrixRegisters(const Op &op);

/// Computes whatever the warp's group has issued and not computed yet.
void finishMatrices(Warp &warp);

} // namespace tile::vgpu
