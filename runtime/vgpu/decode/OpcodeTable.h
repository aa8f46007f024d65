// The table of opcodes. All that the virtual GPU knows of one is a row in the isa file of its topic.
#pragma once

#include "runtime/vgpu/machine/InstructionClass.h"
#include "runtime/vgpu/machine/cost/TimeForm.h"
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
  TimeOf time = timeOfArithmetic;
  Classify kind = classByType;
  std::initializer_list<FormRule> forms = {};
  std::initializer_list<FormOrder> orders = {};
  std::initializer_list<Requirement> requirements = {};
  /// Registers may be wider than the types of the instruction, but not where bf16 is converted.
  bool takesWiderRegisters = false;
  uint8_t traits = 0; ///< of InstructionTrait
  uint8_t warps = 1;  ///< that execute it together, each its share
};
/// The rows of one file; they live as long as the program.
using OpcodeRows = std::span<const OpcodeInfo>;

/// An opcode that means something else with one of its modifiers, decoded in a file of its own, such as st.async. The rules of
/// its form are in the row of the opcode.
struct OpcodeVariant {
  std::string_view opcode, modifier;
  DecodeFunction decode;
};
using OpcodeVariants = std::span<const OpcodeVariant>;

class OpcodeTable {
public:
  OpcodeTable(std::initializer_list<OpcodeRows> files,
              std::initializer_list<OpcodeVariants> variants);
  /// Null if there is no such opcode.
  const OpcodeInfo *find(std::string_view opcode) const;
  /// The function for an instruction of this opcode; takes the modifier of a variant.
  DecodeFunction decodeOf(const OpcodeInfo &opcode, Suffixes &suffixes) const;

private:
  std::unordered_map<std::string_view, const OpcodeInfo *> rows_;
  std::vector<OpcodeVariant> variants_; // few
};

} // namespace tile::vgpu
