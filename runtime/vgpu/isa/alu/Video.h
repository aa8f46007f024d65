// The video instructions: arithmetic on a register as a whole, as two halves or as four bytes.
#pragma once

#include "runtime/vgpu/decode/Decode.h"

namespace tile::vgpu {

void registerVideo(OpcodeTable &table);

} // namespace tile::vgpu
