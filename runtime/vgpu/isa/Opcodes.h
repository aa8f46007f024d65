// All opcodes that the virtual GPU knows.
#pragma once

#include "runtime/vgpu/decode/OpcodeTable.h"

namespace tile::vgpu {

const OpcodeTable &opcodes();

} // namespace tile::vgpu
