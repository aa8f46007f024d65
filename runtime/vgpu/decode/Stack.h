// The stack of a thread, of kernels whose functions allocate on it.
#pragma once

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"

namespace tile::vgpu {

bool usesStack(const Function &function);
/// At the start of a kernel: the stack is empty.
void beginStack(Decoder &decoder);
/// Around a function that uses the stack: what it has allocated goes when it returns.
uint32_t keepStack(Decoder &decoder);
void giveBackStack(Decoder &decoder, uint32_t kept);

OpcodeRows stackOpcodes();

} // namespace tile::vgpu
