// The classes of instructions, and the functions by which the rows of opcodes (decode/OpcodeTable.h) choose one.
#pragma once

#include "runtime/vgpu/ptx/Ptx.h"

#include <algorithm>

namespace tile::vgpu {

/// What an instruction asks of the machine: the rows of the instruction mix.
enum class InstructionClass : uint8_t {
  Integer,
  Float,
  Convert,
  Compare, // setp, selp and the like
  Move,
  GlobalMemory,
  SharedMemory,
  LocalMemory,
  ParamMemory,
  GenericMemory, // loads and stores that name no space
  Atomic,
  Exchange,  // shuffles, votes and what else passes values between lanes
  AsyncCopy, // copies that go on by themselves, their groups and waits
  Barrier,   // barriers, mbarriers and fences
  Tensor,
  Control,
  Other,
};
constexpr size_t kInstructionClasses = static_cast<size_t>(InstructionClass::Other) + 1;
const char *nameOf(InstructionClass kind);

/// What else passes over a program ask of an instruction, as bits of Program::Line::traits.
enum InstructionTrait : uint8_t {
  kCopiesRegister = 1, ///< the value goes on in another register, unchanged
  kFeedsProducts =
      2, ///< loads fragments: it stands among products, and touches registers and shared memory alone
};

/// Is it one of the modifiers of the instruction, such as "global"?
bool hasWord(const Instruction &instruction, std::string_view word);

/// The class of an instruction of one opcode, by its modifiers.
using Classify = InstructionClass (*)(const Instruction &);

template <InstructionClass kind> InstructionClass always(const Instruction &) { return kind; }

/// Float if one of the types is, else integer.
InstructionClass classByType(const Instruction &instruction);

/// Of loads, stores and their kin: the space they name. Constants count as global.
InstructionClass classBySpace(const Instruction &instruction);

template <Classify otherwise> InstructionClass unlessAsync(const Instruction &instruction) {
  return hasWord(instruction, "async") ? InstructionClass::AsyncCopy : otherwise(instruction);
}

/// Multiply-adds of one execution of an instruction for tensor cores: its m x n x k.
uint32_t macsOf(const Instruction &instruction);

} // namespace tile::vgpu
