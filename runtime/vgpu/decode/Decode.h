// Turns the instructions of one kernel, and of the functions it calls, into a Program.
//
// Each opcode has a decode function in the file of its topic (Integer.cpp, LoadStore.cpp, ...), which picks a handler from
// the suffixes and the operands. A suffix nobody took is an error, so nothing is ignored silently.
#pragma once

#include "runtime/vgpu/decode/SharedRows.h"
#include "runtime/vgpu/machine/Model.h"
#include "runtime/vgpu/machine/Program.h"

#include <tile/Error.h>

#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace tile::vgpu {

enum class ScalarType : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  U16x2,
  S16x2,
  F16,
  BF16,
  F16x2,
  BF16x2,
  TF32,
  F32,
  F64,
  E4M3x2,
  E5M2x2,
};
/// Bytes in a register; 0 for predicates.
unsigned bytesOf(ScalarType type);
bool isSigned(ScalarType type);
bool isFloat(ScalarType type);
/// Signed or unsigned, not bits.
bool isInteger(ScalarType type);
ScalarType scalarType(std::string_view suffix);

class Decoder;

/// The suffixes of an instruction, taken one by one. What is left at the end makes the instruction unsupported.
class Suffixes {
public:
  explicit Suffixes(const Instruction &instruction) : rest_(instruction.suffix) {}
  /// Removes `word` wherever it stands; false if it is not there.
  bool take(std::string_view word);
  /// Removes the first that is one of `words`; empty if none is.
  std::string_view takeOneOf(std::initializer_list<std::string_view> words);
  /// Removes the first that starts with `prefix`.
  std::string_view takePrefix(std::string_view prefix);
  /// Removes the first scalar type; None if there is none.
  ScalarType takeType();
  bool empty() const { return rest_.empty(); }
  std::string_view first() const { return rest_.front(); }

private:
  std::vector<std::string_view> rest_;
};

using DecodeFunction = void (*)(Decoder &, const Instruction &, Suffixes &);
using OpcodeTable = std::unordered_map<std::string_view, DecodeFunction>;

struct DecodeOptions {
  bool trackInit = false;
  bool watchMatrices = true; // registers that wgmma works on, see MatrixFlight.h
  Model model;
  int arch = 0;                                            // of the device
  std::function<uint64_t(std::string_view)> globalAddress; // of a module variable; 0 if unknown
};

class Decoder {
public:
  Decoder(std::shared_ptr<const Module> module, const Function &entry, DecodeOptions options);
  std::shared_ptr<const Program> decode();

  // For the decode functions.
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
  uint32_t constant(uint64_t bits, unsigned bytes);
  /// The address of a variable of `space`: shared ones lie in the window of the block.
  uint32_t addressConstant(uint64_t address, std::optional<Space> space, unsigned bytes);
  /// A row nobody reads.
  uint32_t sink(unsigned bytes);
  uint32_t temporary(unsigned bytes);
  /// Where the thread's stack ends, 64 bits wide.
  uint32_t stackPointer();
  /// The predicate in which add.cc and its kin leave their carry.
  uint32_t carryFlag();

  Op &emit(Handlers handlers, std::initializer_list<uint32_t> targets,
           std::initializer_list<uint32_t> sources, int64_t imm = 0, uint32_t a = 0, uint32_t b = 0,
           uint8_t flags = 0);
  Op &emitWide(Handlers handlers, std::span<const uint32_t> targets,
               std::span<const uint32_t> sources, int64_t imm = 0, uint32_t a = 0, uint32_t b = 0,
               uint8_t flags = 0);
  /// A branch whose `imm` becomes the place of instruction `target` of the current function.
  void branchTo(Op &op, uint32_t target);

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

  void decodeCall(const Instruction &instruction);
  /// Where an argument of a call lies in local memory.
  uint32_t argumentOffset(const Operand &argument);
  /// Where `ret` of an inlined function goes; nothing in the kernel itself.
  std::optional<uint32_t> functionEnd() const;
  uint32_t guardRow(const Instruction &instruction) const {
    return frame_->rows[instruction.guard];
  }

  void wantOperands(const Instruction &instruction, size_t least, size_t most = 0) const;
  /// The same, and the policy of `.L2::cache_hint` after them if there is one: it changes speed only.
  void wantOperandsAndPolicy(const Instruction &instruction, size_t count, bool hasPolicy) const;
  /// Refuses the form of an instruction that `what` in its operands makes, for less than this architecture and version.
  void require(int arch, int version, std::string_view what) const;
  [[noreturn]] void unsupported(const std::string &why) const;
  [[noreturn]] void malformed(const std::string &why) const;
  const Instruction &current() const { return *current_; }
  Program &program() { return *program_; }
  const DecodeOptions &options() const { return options_; }

private:
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

  void layoutParams();
  void layoutShared();
  void decodeBody(Frame &frame);
  void decodeInstruction(const Instruction &instruction);
  /// Refuses an opcode with modifiers that it does not have, or that the module does not.
  void requireForm(const Instruction &instruction);
  /// Refuses what the module's .target and .version do not have.
  void requireTarget(std::string_view opcode, std::span<const std::string_view> modifiers) const;
  void wrapHandlers(size_t begin, const Instruction &instruction);
  /// That a register has the width and kind that an instruction needs.
  void checkRegister(const Operand &operand, ScalarType type) const;
  uint32_t allocateRow(unsigned bytes);
  uint32_t specialRow(const Operand &operand);
  uint64_t symbolAddress(const Operand &operand, std::optional<Space> &space);
  uint32_t localVariable(const Variable &variable);
  void collectRows();
  void finishRows();

  std::shared_ptr<Program> program_;
  DecodeOptions options_;
  Frame *frame_ = nullptr;
  std::vector<const Function *> callStack_;
  std::vector<Frame *> frames_;
  const Instruction *current_ = nullptr;
  std::deque<std::vector<uint32_t>> rowPool_; // Op::rows, until the program has them
  uint32_t nextRow_ = 0;
  std::vector<RowKind> rowKinds_; // by row / kRowBytes
  std::optional<uint32_t> carryFlag_, stackPointer_;
  std::unordered_map<std::string, uint32_t> constants_; // key: bits and width
  std::unordered_map<uint8_t, uint32_t> specials_;
  std::unordered_set<std::string_view> knownForms_; // that are right: kernels repeat a few
  std::unordered_map<const Variable *, uint32_t> sharedAddresses_, paramOffsets_;
  std::deque<Variable> passed_;         // arguments of calls that are no variables
  std::deque<Instruction> transferred_; // the loads and stores of those
  // Results narrower than their register: widened after the instruction.
  struct Widening {
    uint32_t wide, narrow;
    ScalarType type;
  };
  std::vector<Widening> widenings_;
};

/// cp.async.bulk, cp.reduce.async.bulk, st.async and red.async, of opcodes that mean more than one thing.
void decodeCopyArrival(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);
void decodeBulkCopy(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);
void decodeAsyncStore(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes);

/// Lanes of `taken` go on at `target`, the others of the warp behind the operation.
void splitWarp(Warp &warp, uint32_t taken, uint32_t target);

/// Gives an operation with kOwnGuard the instruction's guard, in that row: its handler looks at it.
void attachGuard(const Instruction &instruction, Op &op, uint32_t row);

/// The table of all opcodes, filled once by the registrars below.
const OpcodeTable &opcodeTable();
void registerInteger(OpcodeTable &table);
void registerProducts(OpcodeTable &table);
void registerCarry(OpcodeTable &table);
void registerBits(OpcodeTable &table);
void registerFloat(OpcodeTable &table);
void registerCompare(OpcodeTable &table);
void registerConvert(OpcodeTable &table);
void registerMove(OpcodeTable &table);
void registerAddressSpaces(OpcodeTable &table);
void registerLoadStore(OpcodeTable &table);
void registerControl(OpcodeTable &table);
void registerBarrier(OpcodeTable &table);
void registerFence(OpcodeTable &table);
void registerCluster(OpcodeTable &table);
void registerMbarrier(OpcodeTable &table);
void registerTensorMap(OpcodeTable &table);
void registerWarpRegisters(OpcodeTable &table);
void registerDependentLaunch(OpcodeTable &table);
void registerWgmma(OpcodeTable &table);
void registerShuffle(OpcodeTable &table);
void registerAsyncCopy(OpcodeTable &table);
void registerAtomics(OpcodeTable &table);
void registerMatrix(OpcodeTable &table);
void registerCacheHints(OpcodeTable &table);
void registerMma(OpcodeTable &table);
void registerWmma(OpcodeTable &table);

} // namespace tile::vgpu
