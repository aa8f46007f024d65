// What the virtual GPU knows of an opcode: one row, in the isa file of its topic.
#pragma once

#include "runtime/vgpu/machine/InstructionClass.h"
#include "runtime/vgpu/ptx/Forms.h"
#include "runtime/vgpu/ptx/Requirements.h"

#include <span>
#include <unordered_map>

namespace tile::vgpu {

class Decoder;
class Suffixes;
/// Emits the operations of an instruction; takes those of its suffixes that it understands.
using DecodeFunction = void (*)(Decoder &, const Instruction &, Suffixes &);

struct OpcodeInfo {
  std::string_view name;
  DecodeFunction decode;
  Classify kind = classByType;
  std::initializer_list<FormRule> forms = {};
  std::initializer_list<FormOrder> orders = {};
  std::initializer_list<Requirement> requirements = {};
  /// Registers may be wider than the types of the instruction, but not where bf16 is converted.
  bool takesWiderRegisters = false;
};
/// The rows of one file; they live as long as the program.
using OpcodeRows = std::span<const OpcodeInfo>;

class OpcodeTable {
public:
  OpcodeTable(std::initializer_list<OpcodeRows> files);
  /// Null if there is no such opcode.
  const OpcodeInfo *find(std::string_view opcode) const;

private:
  std::unordered_map<std::string_view, const OpcodeInfo *> rows_;
};

} // namespace tile::vgpu
