// The frame of decoding: operands to rows, functions inlined, branches resolved, handlers wrapped.
#include "runtime/vgpu/decode/Decode.h"

#include "runtime/vgpu/decode/BitShadow.h"
#include "runtime/vgpu/decode/BlockOrder.h"
#include "runtime/vgpu/decode/Stack.h"
#include "runtime/vgpu/machine/InitCheck.h"
#include "runtime/vgpu/machine/MatrixFlight.h"
#include "runtime/vgpu/machine/Memory.h"
#include "runtime/vgpu/machine/MmaBatch.h"
#include "runtime/vgpu/ptx/Forms.h"
#include "runtime/vgpu/ptx/PtxLexer.h"
#include "runtime/vgpu/ptx/Requirements.h"

#include <algorithm>

namespace tile::vgpu {

// Inlining repeats a function's code at each call; beyond this a kernel is refused instead of eating memory.
static constexpr size_t kMaxOperations = 1 << 20;

Decoder::Decoder(std::shared_ptr<const Module> module, const Function &entry, DecodeOptions options)
    : program_(std::make_shared<Program>()), options_(std::move(options)) {
  program_->module = std::move(module);
  program_->entry = &entry;
}

void Decoder::unsupported(const std::string &why) const {
  throw Error(Fault::User, ErrorCode::Unsupported,
              "virtual GPU: '" + std::string(current_->spelling) + "' is not supported: " + why,
              {program_->module->name.c_str(), current_->line});
}

void Decoder::malformed(const std::string &why) const {
  throw Error(Fault::User, ErrorCode::Parse, "'" + std::string(current_->spelling) + "': " + why,
              {program_->module->name.c_str(), current_->line});
}

void Decoder::wantOperands(const Instruction &instruction, size_t least, size_t most) const {
  size_t count = instruction.operands.size();
  if (count < least || count > std::max(least, most))
    malformed("expected " + std::to_string(least) +
              (most > least ? " to " + std::to_string(most) : std::string()) + " operands, found " +
              std::to_string(count));
}

void Decoder::wantOperandsAndPolicy(const Instruction &instruction, size_t count,
                                    bool hasPolicy) const {
  wantOperands(instruction, count + hasPolicy);
  if (!hasPolicy)
    return;
  const Operand &policy = instruction.operands.back();
  if (policy.kind != Operand::Kind::Register ||
      frame_->function->registers[policy.reg].bytes != sizeof(uint64_t))
    malformed("the last operand of .L2::cache_hint is the policy, a register of 64 bits");
}

uint32_t Decoder::allocateRow(unsigned bytes) {
  uint32_t row = nextRow_;
  nextRow_ += bytes <= 4 ? kRowBytes : bytes / 4 * kRowBytes;
  rowKinds_.resize(nextRow_ / kRowBytes, bytes == 0   ? RowKind::Predicate
                                         : bytes <= 4 ? RowKind::Word
                                                      : RowKind::Wide);
  return row;
}

uint32_t Decoder::temporary(unsigned bytes) { return allocateRow(bytes); }
uint32_t Decoder::sink(unsigned bytes) { return allocateRow(bytes); }

uint32_t Decoder::carryFlag() {
  if (!carryFlag_)
    carryFlag_ = allocateRow(0);
  return *carryFlag_;
}

uint32_t Decoder::stackPointer() {
  if (!stackPointer_)
    stackPointer_ = allocateRow(8);
  return *stackPointer_;
}

uint32_t Decoder::constant(uint64_t bits, unsigned bytes) {
  return addressConstant(bits, std::nullopt, bytes);
}

uint32_t Decoder::addressConstant(uint64_t address, std::optional<Space> space, unsigned bytes) {
  bool isShared = space == Space::Shared;
  std::string key = std::to_string(address) +
                    (bytes == 8   ? "w"
                     : bytes == 0 ? "p"
                                  : "") +
                    (isShared ? "s" : "");
  auto [found, isNew] = constants_.try_emplace(key, 0);
  if (isNew) {
    found->second = allocateRow(bytes);
    program_->constants.push_back({found->second, address, static_cast<uint8_t>(bytes), isShared});
  }
  return found->second;
}

Op &Decoder::emitWide(Handlers handlers, std::span<const uint32_t> targets,
                      std::span<const uint32_t> sources, int64_t imm, uint32_t a, uint32_t b,
                      uint8_t flags) {
  std::vector<uint32_t> &rows = rowPool_.emplace_back(targets.begin(), targets.end());
  rows.insert(rows.end(), sources.begin(), sources.end());
  Op op;
  op.real = op.run = handlers.run;
  op.shadow = handlers.shadow;
  op.rows = rows.data();
  op.targets = static_cast<uint8_t>(targets.size());
  op.sources = static_cast<uint8_t>(sources.size());
  op.imm = imm;
  op.a = a;
  op.b = b;
  op.flags = flags;
  op.instruction = static_cast<uint32_t>(program_->lines.size() - 1);
  program_->code.push_back(op);
  return program_->code.back();
}

Op &Decoder::emit(Handlers handlers, std::initializer_list<uint32_t> targets,
                  std::initializer_list<uint32_t> sources, int64_t imm, uint32_t a, uint32_t b,
                  uint8_t flags) {
  return emitWide(handlers, std::span(targets.begin(), targets.size()),
                  std::span(sources.begin(), sources.size()), imm, a, b, flags);
}

// A narrower view of a 64-bit register, and back. The pieces have 32-bit lanes.
struct Narrow {
  uint32_t operator()(uint64_t value) const { return static_cast<uint32_t>(value); }
};
struct WidenUnsigned {
  uint64_t operator()(uint32_t value) const { return value; }
};
struct WidenSigned {
  int64_t operator()(int32_t value) const { return value; }
};

// Loads, stores and conversions may use registers wider than their types, but not where bf16 is converted.
void Decoder::checkRegister(const Operand &operand, ScalarType type) const {
  const PtxType &own = frame_->function->registers[operand.reg];
  unsigned wanted = bytesOf(type);
  std::string_view opcode = current_->opcode;
  bool mayBeWider = opcode == "ld" || opcode == "ldu" || opcode == "st" ||
                    (opcode == "cvt" && !std::ranges::count(current_->suffix, "bf16"));
  if (own.bytes > wanted && wanted > 0 && !mayBeWider)
    malformed("'" + std::string(operand.name) + "' is " + std::to_string(8 * own.bytes) +
              " bits wide, the instruction uses " + std::to_string(8 * wanted));
  bool isPair = type == ScalarType::F16x2 || type == ScalarType::BF16x2;
  if (own.isFloat && (isPair || isInteger(type)))
    malformed("'" + std::string(operand.name) + "' is declared as .f" +
              std::to_string(8 * own.bytes) + ", the instruction uses " +
              (isPair ? "pairs of halves" : "integers"));
}

uint32_t Decoder::source(const Operand &operand, ScalarType type) {
  unsigned bytes = 0;
  uint32_t row = sourceAnyWidth(operand, type, bytes);
  unsigned wanted = bytesOf(type);
  if (operand.kind == Operand::Kind::Register)
    checkRegister(operand, type);
  if (bytes == 8 && wanted < 8 && wanted > 0) {
    uint32_t narrow = temporary(4);
    emit(bitOp<Narrow, 1, uint32_t, uint64_t>(), {narrow}, {row});
    return narrow;
  }
  if (bytes < wanted && bytes != 0)
    malformed("operand '" + std::string(operand.name) + "' is " + std::to_string(8 * bytes) +
              " bits wide, the instruction needs " + std::to_string(8 * wanted));
  if ((bytes == 0) != (wanted == 0))
    malformed(wanted == 0 ? "expected a predicate" : "a predicate is no operand here");
  return row;
}

namespace {
struct AddOffset {
  uint64_t operator()(uint64_t base, uint64_t offset) const { return base + offset; }
};
} // namespace

uint32_t Decoder::wideAddress(const Operand &operand) {
  Address place = address(operand);
  if (place.bytes == 8 && place.offset == 0)
    return place.row;
  uint32_t row = temporary(8), offset = constant(static_cast<uint64_t>(place.offset), 8);
  emit(place.bytes == 8 ? laneOp<AddOffset, uint64_t, uint64_t, uint64_t>
                        : laneOp<AddOffset, uint64_t, uint32_t, uint64_t>,
       {row}, {place.row, offset});
  return row;
}

// Of the type of the instruction: for f32 doubles are narrowed, for f64 singles widened. Bits have the width of their type.
uint64_t Decoder::floatLiteral(const Operand &operand, ScalarType type) const {
  bool converts = type == ScalarType::F32 || type == ScalarType::F64;
  bool isWord = type == ScalarType::B32 || type == ScalarType::B64;
  if (!converts && !(isWord && operand.floatBytes == bytesOf(type)))
    malformed("a float of " + std::to_string(8 * operand.floatBytes) + " bits is no operand here");
  return floatBits(operand.value, operand.floatBytes, bytesOf(type));
}

uint32_t Decoder::sourceAnyWidth(const Operand &operand, ScalarType type, unsigned &bytes) {
  unsigned wanted = bytesOf(type);
  bytes = wanted == 8 ? 8 : wanted == 0 ? 0 : 4;
  switch (operand.kind) {
  case Operand::Kind::Register:
    if (operand.negated && !frame_->function->registers[operand.reg].isPredicate())
      malformed("'!' needs a predicate");
    bytes = frame_->function->registers[operand.reg].bytes;
    if (bytes == 16)
      malformed("'" + std::string(operand.name) + "' is 128 bits wide");
    return operand.negated ? predicate(operand) : frame_->rows[operand.reg];
  case Operand::Kind::Immediate:
    if (wanted == 0)
      return constant(operand.value ? kFullMask : 0, 0);
    if (isFloat(type))
      malformed("a number of a float instruction is a float such as 1.0 or 0f3f800000");
    return constant(wanted == 8 ? operand.value : static_cast<uint32_t>(operand.value), wanted);
  case Operand::Kind::Float:
    return constant(floatLiteral(operand, type), wanted);
  case Operand::Kind::Special: {
    uint32_t row = specialRow(operand);
    if (wanted != 8)
      return row;
    uint32_t wide = temporary(8);
    emit(bitOp<WidenUnsigned, 1, uint64_t, uint32_t>(), {wide}, {row});
    return wide;
  }
  case Operand::Kind::Symbol: {
    std::optional<Space> space;
    uint64_t address = symbolAddress(operand, space);
    return addressConstant(address, space, wanted);
  }
  default:
    malformed("operand form is not allowed here");
  }
}

uint32_t Decoder::target(const Operand &operand, ScalarType type) {
  unsigned wanted = bytesOf(type);
  if (operand.kind == Operand::Kind::Sink)
    return sink(wanted);
  if (operand.kind != Operand::Kind::Register)
    malformed("the result '" + std::string(operand.name) + "' is not a declared register");
  unsigned bytes = frame_->function->registers[operand.reg].bytes;
  if ((bytes == 0) != (wanted == 0))
    malformed("result '" + std::string(operand.name) + "' has the wrong kind of register");
  if (bytes == 16)
    malformed("result '" + std::string(operand.name) + "' is 128 bits wide");
  if (bytes < wanted)
    malformed("result '" + std::string(operand.name) + "' is " + std::to_string(8 * bytes) +
              " bits wide, the instruction writes " + std::to_string(8 * wanted));
  checkRegister(operand, type);
  uint32_t row = frame_->rows[operand.reg];
  if (bytes == 8 && wanted < 8) {
    uint32_t narrow = temporary(4);
    widenings_.push_back({row, narrow, type});
    return narrow;
  }
  return row;
}

std::array<uint32_t, 2> Decoder::halves(const Operand &operand) {
  if (operand.kind == Operand::Kind::Sink)
    return {sink(8), sink(8)};
  if (operand.kind != Operand::Kind::Register ||
      frame_->function->registers[operand.reg].bytes != 16)
    malformed("'" + std::string(operand.name) + "' is no .b128 register");
  uint32_t row = frame_->rows[operand.reg];
  return {row, row + 2 * kRowBytes};
}

static void invertPredicate(Warp &warp, const Op &op) {
  mergeMask(warp.predicate(op.rows[0]), ~warp.predicate(op.rows[1]), warp.mask);
}

uint32_t Decoder::predicate(const Operand &operand) {
  if (operand.kind != Operand::Kind::Register) {
    unsigned bytes = 0;
    return sourceAnyWidth(operand, ScalarType::Pred, bytes);
  }
  if (!frame_->function->registers[operand.reg].isPredicate())
    malformed("'" + std::string(operand.name) + "' is not a predicate");
  uint32_t row = frame_->rows[operand.reg];
  if (!operand.negated)
    return row;
  uint32_t inverted = temporary(0);
  emit(invertPredicate, {inverted}, {row});
  return inverted;
}

bool Decoder::isPredicate(const Operand &operand) const {
  return operand.kind == Operand::Kind::Register &&
         frame_->function->registers[operand.reg].isPredicate();
}

Decoder::Address Decoder::address(const Operand &operand) {
  if (operand.kind != Operand::Kind::Address)
    malformed("expected an address in brackets");
  if (operand.parts.size() != 1)
    unsupported("an address with coordinates");
  const Operand &base = operand.parts[0];
  Address result;
  result.offset = static_cast<int64_t>(operand.value);
  switch (base.kind) {
  case Operand::Kind::Register:
    result.row = frame_->rows[base.reg];
    result.bytes = frame_->function->registers[base.reg].bytes;
    if (result.bytes < 4)
      malformed("address register '" + std::string(base.name) + "' is narrower than 32 bits");
    return result;
  case Operand::Kind::Immediate:
    result.always = base.value;
    break;
  case Operand::Kind::Symbol:
    result.always = symbolAddress(base, result.known);
    break;
  default:
    malformed("this form of address is not understood");
  }
  result.row = addressConstant(*result.always, result.known, 8);
  *result.always += static_cast<uint64_t>(result.offset);
  return result;
}

Space Decoder::spaceOf(Space written, const Address &address) const {
  Space own = address.known.value_or(written);
  if (own == Space::Param && written != own)
    malformed("a parameter of the kernel is read by ld.param");
  if (written == Space::Generic)
    return own;
  // Variables named `.param` in a function body live in local memory; a kernel's own are parameters.
  bool isLocalParam = written == Space::Param && own == Space::Local;
  bool isConstant = written == Space::Global && own == Space::Const;
  if (own != written && !isLocalParam && !isConstant)
    malformed("the variable is in ." + std::string(nameOf(own)) + " memory, not in ." +
              nameOf(written));
  return own;
}

void Decoder::branchTo(Op &op, uint32_t target) {
  frame_->fixups.push_back({static_cast<uint32_t>(&op - program_->code.data()), target});
}

void Decoder::decodeBody(Frame &frame) {
  Frame *outer = frame_;
  frame_ = &frame;
  const Function &function = *frame.function;
  frames_.push_back(&frame);
  frame.firstRow = nextRow_;
  frame.firstLocal = program_->localBytes;
  for (const PtxType &type : function.registers)
    frame.rows.push_back(allocateRow(type.bytes));
  beginActivations(frame);
  transferRegisters(function.params, true);
  BlockOrder order = orderBlocks(function);
  frame.places.assign(function.body.size() + 1, 0);
  for (size_t position = 0; position < order.blocks.size(); ++position) {
    const BlockOrder::Block &block = order.blocks[position];
    for (uint32_t i = block.begin; i < block.end; ++i) {
      frame.places[i] = static_cast<uint32_t>(program_->code.size());
      decodeInstruction(function.body[i]);
      frame_ = &frame;
    }
    bool fallsElsewhere = block.fallsThrough && (position + 1 == order.blocks.size() ||
                                                 order.blocks[position + 1].begin != block.end);
    if (fallsElsewhere)
      emitJump(*this, block.end);
  }
  frame.places[function.body.size()] = static_cast<uint32_t>(program_->code.size());
  for (const Frame::Fixup &fixup : frame.fixups)
    program_->code[fixup.op].imm = frame.places[fixup.target];
  transferRegisters(function.results, false);
  endActivations(frame);
  frames_.pop_back();
  frame_ = outer;
}

void Decoder::decodeInstruction(const Instruction &instruction) {
  current_ = &instruction;
  program_->lines.push_back({instruction.line, instruction.source, instruction.spelling,
                             classOf(instruction), macsOf(instruction)});
  size_t begin = program_->code.size();
  if (begin > kMaxOperations)
    throw Error(Fault::User, ErrorCode::ResourceExceeded,
                "the kernel '" + std::string(program_->entry->name) + "' has more than " +
                    std::to_string(kMaxOperations) +
                    " operations once the functions it calls are inlined",
                {program_->module->name.c_str(), instruction.line});
  auto found = opcodeTable().find(instruction.opcode);
  if (found == opcodeTable().end())
    unsupported("unknown instruction");
  requireForm(instruction);
  Suffixes suffixes(instruction);
  std::vector<Widening> outerWidenings;
  std::swap(outerWidenings, widenings_);
  found->second(*this, instruction, suffixes);
  current_ = &instruction;
  if (!suffixes.empty())
    unsupported("unknown or misplaced modifier '." + std::string(suffixes.first()) + "'");
  for (const Widening &widening : widenings_)
    emit(isSigned(widening.type) ? bitOp<WidenSigned, 1, int64_t, int32_t>()
                                 : bitOp<WidenUnsigned, 1, uint64_t, uint32_t>(),
         {widening.wide}, {widening.narrow});
  std::swap(outerWidenings, widenings_);
  if (instruction.opcode != "call")
    wrapHandlers(begin, instruction);
  if (begin < program_->code.size())
    program_->code[begin].issues = 1;
}

void Decoder::requireForm(const Instruction &instruction) {
  if (!knownForms_.insert(instruction.spelling).second)
    return;
  requireTarget(instruction.opcode, instruction.suffix);
  for (auto rule : {brokenRule, brokenOrder})
    if (auto broken = rule(instruction.opcode, instruction.suffix))
      malformed(*broken);
}

void Decoder::requireTarget(std::string_view opcode,
                            std::span<const std::string_view> modifiers) const {
  const Module &module = *program_->module;
  if (auto missing = missingFor(opcode, modifiers, module.target, module.version))
    unsupported(*missing);
}

void Decoder::require(int arch, int version, std::string_view what) const {
  const Module &module = *program_->module;
  if (auto missing = missingFor(arch, version, module.target, module.version))
    unsupported("with " + std::string(what) + " " + *missing);
}

static void runGuarded(Warp &warp, const Op &op) {
  uint32_t saved = warp.mask;
  warp.mask &= warp.predicate(op.guardRow) ^ (0u - op.guardFlip);
  if (warp.mask)
    op.real(warp, op);
  // An operation that exits or parks lanes has left the mask as it wants it.
  if (!(op.flags & kControl))
    warp.mask = saved;
}

void Decoder::wrapHandlers(size_t begin, const Instruction &instruction) {
  for (size_t i = begin; i < program_->code.size(); ++i) {
    Op &op = program_->code[i];
    bool guarded = instruction.guard >= 0 && !(op.flags & kOwnGuard);
    if (guarded) {
      op.flags |= kHasGuard;
      op.guardRow = frame_->rows[instruction.guard];
      op.guardFlip = instruction.guardNegated;
      if (op.flags & kControl)
        unsupported("a guard on this instruction; branch around it instead");
      op.run = runGuarded;
    }
    if (options_.trackInit)
      op.run = initTrackingHandler(op);
  }
}

std::optional<uint32_t> Decoder::functionEnd() const {
  if (callStack_.size() == 1)
    return std::nullopt;
  return static_cast<uint32_t>(frame_->function->body.size());
}

std::shared_ptr<const Program> Decoder::decode() {
  program_->sumArch = options_.model.sums ? options_.arch : 0;
  layoutParams();
  layoutShared();
  Frame frame;
  frame.function = program_->entry;
  callStack_.push_back(program_->entry);
  beginStack(*this);
  decodeBody(frame);
  // Falling off the end is an exit.
  static const Instruction ending = [] {
    Instruction instruction;
    instruction.opcode = instruction.spelling = "exit";
    return instruction;
  }();
  frame_ = &frame;
  decodeInstruction(ending);
  collectRows();
  finishRows();
  program_->watchesMatrices = program_->usesWgmma && options_.watchMatrices;
  if (program_->watchesMatrices)
    watchMatrixRegisters(*program_);
  batchMmas(*program_);
  if (!options_.trackInit && !program_->watchesMatrices && program_->recursions.empty())
    shareRows(*program_, rowKinds_);
  return program_;
}

// All operands in one piece, in the order of the operations.
void Decoder::collectRows() {
  size_t count = 0;
  for (const std::vector<uint32_t> &rows : rowPool_)
    count += rows.size();
  program_->rows.reserve(count);
  for (Op &op : program_->code) {
    const uint32_t *rows = op.rows;
    op.rows = program_->rows.data() + program_->rows.size();
    program_->rows.insert(program_->rows.end(), rows, rows + op.targets + op.sources);
  }
  rowPool_.clear();
}

// Constants and special registers go behind the registers, so that "from here on always initialised" is one compare.
void Decoder::finishRows() {
  std::unordered_map<uint32_t, uint32_t> moved;
  uint32_t end = nextRow_;
  program_->staticRowsBegin = end;
  auto move = [&](uint32_t &row, unsigned bytes) {
    moved[row] = end;
    row = end;
    end += bytes == 8 ? 2 * kRowBytes : kRowBytes;
  };
  for (Program::Constant &constant : program_->constants)
    move(constant.row, constant.bytes);
  for (Program::SpecialRow &special : program_->specials)
    move(special.row, 4);
  for (uint32_t &row : program_->rows)
    if (auto found = moved.find(row); found != moved.end())
      row = found->second;
  program_->fileBytes = end;
}

} // namespace tile::vgpu
