// mma.sp: products of matrices A of which half of each row is left out.
#pragma once

#include "runtime/vgpu/decode/Decode.h"

namespace tile::vgpu {

bool isSparseMma(const Instruction &instruction);
void decodeSparseMma(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);

} // namespace tile::vgpu
