// Operands of instructions to rows of the register file: registers and constants of the right width, special registers,
// addresses of variables.
#pragma once

#include "runtime/vgpu/decode/ProgramBuilder.h"
#include "runtime/vgpu/decode/Suffixes.h"

#include <array>

namespace tile::vgpu {

class OperandReader : public ProgramBuilder {
public:
  using ProgramBuilder::ProgramBuilder;

  /// The row of a source operand, converted to the width of `type` if its register is wider.
  uint32_t source(const Operand &operand, ScalarType type);
  /// The row of a source in its own width; `bytes` receives it.
  uint32_t sourceAnyWidth(const Operand &operand, ScalarType type, unsigned &bytes);
  uint64_t floatLiteral(const Operand &operand, ScalarType type) const;
  uint32_t target(const Operand &operand, ScalarType type);
  uint32_t predicate(const Operand &operand);
  /// The rows of the low and the high half of a .b128 register.
  std::array<uint32_t, 2> halves(const Operand &operand);
  bool isPredicate(const Operand &operand) const;

  /// An address `[base+offset]`: `row` holds the base, or a constant.
  struct Address {
    uint32_t row = 0;
    unsigned bytes = 8; // width of the base
    int64_t offset = 0;
    std::optional<Space> known;     // the space the symbol is in
    std::optional<uint64_t> always; // base and offset, if no register takes part
  };
  Address address(const Operand &operand);
  /// The space of an access, of which `written` is what the instruction says: a variable that is named has its own.
  Space spaceOf(Space written, const Address &address) const;
  /// The row of an address with its offset, 64 bits wide.
  uint32_t wideAddress(const Operand &operand);

  /// wantOperands(), and the policy of `.L2::cache_hint` after them if there is one: it changes speed only.
  void wantOperandsAndPolicy(const Instruction &instruction, size_t count, bool hasPolicy) const;
  uint32_t guardRow(const Instruction &instruction) const {
    return frame_->rows[instruction.guard];
  }

protected:
  // One inlined activation of a function.
  struct Frame {
    const Function *function;
    std::vector<uint32_t> rows;                                  // by register
    std::unordered_map<const Variable *, uint32_t> localOffsets; // .local and .param variables
    std::vector<uint32_t> places;                                // op index of each instruction
    uint32_t firstRow = 0, firstLocal = 0;                       // of those allocated in it
    std::optional<uint32_t> recursion; // of Program::recursions, of a function that calls itself
    struct Fixup {
      uint32_t op, target;
    };
    std::vector<Fixup> fixups;
  };
  // Results narrower than their register: widened after the instruction.
  struct Widening {
    uint32_t wide, narrow;
    ScalarType type;
  };

  void widenResults();
  void layoutParams();
  void layoutShared();
  uint32_t localVariable(const Variable &variable);

  Frame *frame_ = nullptr;
  std::vector<Widening> widenings_;

private:
  /// That a register has the width and kind that an instruction needs.
  void checkRegister(const Operand &operand, ScalarType type) const;
  uint32_t specialRow(const Operand &operand);
  uint64_t symbolAddress(const Operand &operand, std::optional<Space> &space);

  std::unordered_map<uint8_t, uint32_t> specials_;
  std::unordered_map<const Variable *, uint32_t> sharedAddresses_, paramOffsets_;
};

} // namespace tile::vgpu
