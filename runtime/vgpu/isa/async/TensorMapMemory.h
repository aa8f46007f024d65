// Tensor maps where kernels have them: in parameters, in global memory, and in shared memory while they are changed.
#pragma once

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/machine/Warp.h"
#include "runtime/vgpu/machine/async/TensorMap.h"

namespace tile::vgpu {

/// The map at a generic address, as a copy uses it. Stops the block if there is none, or one that is not modelled.
TensorMapParams tensorMapAt(Warp &warp, const Op &op, unsigned lane, uint64_t address);

/// fence.proxy.tensormap::generic, after .proxy and this word.
void decodeMapFence(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);

} // namespace tile::vgpu
