// mma.m8n8k4 of f16, the form that came first: a warp computes four products, each by eight lanes of its own.
#pragma once

#include "runtime/vgpu/decode/Decode.h"

namespace tile::vgpu {

bool isQuadMma(const Instruction &instruction);
void decodeQuadMma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);

} // namespace tile::vgpu
