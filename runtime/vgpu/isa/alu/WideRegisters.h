// Registers of 128 bits: two rows of 64-bit lanes. ld and st (LoadStore.cpp) take them as two elements of one access.
#pragma once

#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/isa/alu/AtomicForm.h"

namespace tile::vgpu {

/// mov.b128: a register, or two of 64 bits, to another.
void decodeWideMove(Decoder &decoder, const Instruction &instruction);

/// The suffixes of atom.b128.
struct WideAtomic {
  std::string_view operation; // exch and cas
  AtomicForm atomic;
  bool hasPolicy = false;
  bool returns = true; // the old value
};
void emitWideAtomic(Decoder &decoder, const Instruction &instruction, WideAtomic form);

} // namespace tile::vgpu
