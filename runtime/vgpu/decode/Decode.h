// Turns the instructions of one kernel, and of the functions it calls, into a Program.
//
// Each opcode has a decode function in the file of its topic (Integer.cpp, LoadStore.cpp, ...), which picks a handler from
// the suffixes and the operands. A suffix that no function took is an error, so nothing is ignored silently.
#pragma once

#include "runtime/vgpu/decode/OperandReader.h"

#include <unordered_set>

namespace tile::vgpu {

struct OpcodeInfo;
class OpcodeTable;

class Decoder : public OperandReader {
public:
  Decoder(std::shared_ptr<const Module> module, const Function &entry, const OpcodeTable &opcodes,
          DecodeOptions options)
      : OperandReader(std::move(module), entry, std::move(options)), opcodes_(opcodes) {}
  std::shared_ptr<const Program> decode();

  // For the decode functions.
  /// A branch whose `imm` becomes the place of instruction `target` of the current function.
  void branchTo(Op &op, uint32_t target);
  void decodeCall(const Instruction &instruction);
  /// The offset in local memory of an argument of a call.
  uint32_t argumentOffset(const Operand &argument);
  /// The instruction that `ret` of an inlined function goes to; nothing in the kernel itself.
  std::optional<uint32_t> functionEnd() const;

private:
  // The parts of a call; null where there is none.
  struct Call {
    const Operand *results = nullptr, *callee = nullptr, *arguments = nullptr, *prototype = nullptr;
  };
  Call readCall(const Instruction &instruction) const;
  void callByName(const Call &call);
  void callThroughPointer(const Call &call);
  void inlineFunction(const Function &callee, const Call &call);
  void recurse(const Function &callee, const Call &call);
  void beginActivations(Frame &frame);
  void endActivations(const Frame &frame);
  uint32_t argumentPlace(const Operand &argument, const Variable &formal);
  void transfer(const Variable &parameter, const Operand &value, bool loads);
  void transferRegisters(const std::vector<const Variable *> &formals, bool loads);
  bool isBeingInlined(const Function &function) const;
  std::vector<const Function *> candidates(const Prototype &prototype) const;

  void decodeBody(Frame &frame);
  void decodeInstruction(const Instruction &instruction);
  /// The row of an opcode; unsupported() if there is none.
  const OpcodeInfo &infoOf(const Instruction &instruction) const;
  /// Refuses an opcode with modifiers that it does not have, or that the module does not.
  void requireForm(const Instruction &instruction, const OpcodeInfo &opcode);
  void wrapHandlers(size_t begin, const Instruction &instruction);

  const OpcodeTable &opcodes_;
  std::vector<const Function *> callStack_;
  std::vector<Frame *> frames_;
  std::unordered_set<std::string_view> knownForms_; // that are right: kernels repeat a few
  std::deque<Variable> passed_;                     // arguments of calls that are no variables
  std::deque<Instruction> transferred_;             // the loads and stores of those
};

/// Lanes of `taken` go on at `target`, the others of the warp behind the operation.
void splitWarp(Warp &warp, uint32_t taken, uint32_t target);

/// Gives an operation with kOwnGuard the instruction's guard, in that row: its handler looks at it.
void attachGuard(const Instruction &instruction, Op &op, uint32_t row);

} // namespace tile::vgpu
