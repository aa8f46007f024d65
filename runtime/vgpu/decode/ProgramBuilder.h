// The program that decoding makes, as far as it is there: rows of its register file, operations, and errors that name the
// instruction being decoded.
#pragma once

#include "runtime/vgpu/decode/SharedRows.h"
#include "runtime/vgpu/machine/Model.h"
#include "runtime/vgpu/machine/OpForm.h"

#include <tile/Error.h>

#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <unordered_map>

namespace tile::vgpu {

struct OpcodeInfo;

struct DecodeOptions {
  bool trackInit = false;
  bool watchMatrices = true; // registers that wgmma works on, see MatrixFlight.h
  /// None is merged with others, and each register has rows of its own: for the time model.
  bool keepsInstructions = false;
  Model model;
  int arch = 0;                                            // of the device
  std::function<uint64_t(std::string_view)> globalAddress; // of a module variable; 0 if unknown
};

class ProgramBuilder {
public:
  ProgramBuilder(std::shared_ptr<const Module> module, const Function &entry,
                 DecodeOptions options);

  // Rows.
  uint32_t constant(uint64_t bits, unsigned bytes);
  /// The address of a variable of `space`: shared ones lie in the window of the block.
  uint32_t addressConstant(uint64_t address, std::optional<Space> space, unsigned bytes);
  /// A row for results that are not wanted.
  uint32_t sink(unsigned bytes);
  uint32_t temporary(unsigned bytes);
  /// The row with the end of the thread's stack, 64 bits wide.
  uint32_t stackPointer();
  /// The predicate in which add.cc and its kin leave their carry.
  uint32_t carryFlag();

  // Operations.
  Op &emit(Handlers handlers, std::initializer_list<uint32_t> targets,
           std::initializer_list<uint32_t> sources, int64_t imm = 0, uint32_t a = 0, uint32_t b = 0,
           uint8_t flags = 0);
  Op &emitWide(Handlers handlers, std::span<const uint32_t> targets,
               std::span<const uint32_t> sources, int64_t imm = 0, uint32_t a = 0, uint32_t b = 0,
               uint8_t flags = 0);
  /// With the form of the handler in `a` and `b`.
  template <OpForm Form>
  Op &emit(Handlers handlers, std::initializer_list<uint32_t> targets,
           std::initializer_list<uint32_t> sources, int64_t imm, const Form &form,
           uint8_t flags = 0) {
    uint64_t bits = bitsOf(form);
    return emit(handlers, targets, sources, imm, static_cast<uint32_t>(bits),
                static_cast<uint32_t>(bits >> 32), flags);
  }
  template <OpForm Form>
  Op &emitWide(Handlers handlers, std::span<const uint32_t> targets,
               std::span<const uint32_t> sources, int64_t imm, const Form &form,
               uint8_t flags = 0) {
    uint64_t bits = bitsOf(form);
    return emitWide(handlers, targets, sources, imm, static_cast<uint32_t>(bits),
                    static_cast<uint32_t>(bits >> 32), flags);
  }

  // Errors.
  void wantOperands(const Instruction &instruction, size_t least, size_t most = 0) const;
  /// Refuses the form of an instruction that `what` in its operands makes, for less than this architecture and version.
  void require(int arch, int version, std::string_view what) const;
  [[noreturn]] void unsupported(const std::string &why) const;
  [[noreturn]] void malformed(const std::string &why) const;

  const Instruction &current() const { return *current_; }
  Program &program() { return *program_; }
  const DecodeOptions &options() const { return options_; }

protected:
  uint32_t allocateRow(unsigned bytes);
  void collectRows();
  void finishRows();
  void noteRowBytes();

  std::shared_ptr<Program> program_;
  DecodeOptions options_;
  const Instruction *current_ = nullptr; // the one being decoded
  const OpcodeInfo *opcode_ = nullptr;   // its row
  uint32_t nextRow_ = 0;
  std::vector<RowKind> rowKinds_; // by row / kRowBytes
  std::optional<uint32_t> carryFlag_, stackPointer_;

private:
  std::deque<std::vector<uint32_t>> rowPool_;           // Op::rows, until the program has them
  std::unordered_map<std::string, uint32_t> constants_; // key: bits and width
};

} // namespace tile::vgpu
