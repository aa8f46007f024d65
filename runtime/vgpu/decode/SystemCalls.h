// The functions CUDA promises without a body: vprintf and __assertfail.
#pragma once

#include "runtime/vgpu/decode/Decode.h"

namespace tile::vgpu {

/// Emits the call if `name` is a system call; false if it is none.
bool emitSystemCall(Decoder &decoder, std::string_view name, const std::vector<Operand> &args);

} // namespace tile::vgpu
