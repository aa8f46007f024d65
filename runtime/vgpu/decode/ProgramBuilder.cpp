// Rows, operations and errors of the program under construction.
#include "runtime/vgpu/decode/ProgramBuilder.h"

#include "runtime/vgpu/ptx/Requirements.h"

#include <algorithm>

namespace tile::vgpu {

ProgramBuilder::ProgramBuilder(std::shared_ptr<const Module> module, const Function &entry,
                               DecodeOptions options)
    : program_(std::make_shared<Program>()), options_(std::move(options)) {
  program_->module = std::move(module);
  program_->entry = &entry;
}

void ProgramBuilder::unsupported(const std::string &why) const {
  throw Error(Fault::User, ErrorCode::Unsupported,
              "virtual GPU: '" + std::string(current_->spelling) + "' is not supported: " + why,
              {program_->module->name.c_str(), current_->line});
}

void ProgramBuilder::malformed(const std::string &why) const {
  throw Error(Fault::User, ErrorCode::Parse, "'" + std::string(current_->spelling) + "': " + why,
              {program_->module->name.c_str(), current_->line});
}

void ProgramBuilder::wantOperands(const Instruction &instruction, size_t least, size_t most) const {
  size_t count = instruction.operands.size();
  if (count < least || count > std::max(least, most))
    malformed("expected " + std::to_string(least) +
              (most > least ? " to " + std::to_string(most) : std::string()) + " operands, found " +
              std::to_string(count));
}

uint32_t ProgramBuilder::allocateRow(unsigned bytes) {
  uint32_t row = nextRow_;
  nextRow_ += bytes <= 4 ? kRowBytes : bytes / 4 * kRowBytes;
  rowKinds_.resize(nextRow_ / kRowBytes, bytes == 0   ? RowKind::Predicate
                                         : bytes <= 4 ? RowKind::Word
                                                      : RowKind::Wide);
  return row;
}

uint32_t ProgramBuilder::temporary(unsigned bytes) { return allocateRow(bytes); }
uint32_t ProgramBuilder::sink(unsigned bytes) { return allocateRow(bytes); }

uint32_t ProgramBuilder::carryFlag() {
  if (!carryFlag_)
    carryFlag_ = allocateRow(0);
  return *carryFlag_;
}

uint32_t ProgramBuilder::stackPointer() {
  if (!stackPointer_)
    stackPointer_ = allocateRow(8);
  return *stackPointer_;
}

uint32_t ProgramBuilder::constant(uint64_t bits, unsigned bytes) {
  return addressConstant(bits, std::nullopt, bytes);
}

uint32_t ProgramBuilder::addressConstant(uint64_t address, std::optional<Space> space,
                                         unsigned bytes) {
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

Op &ProgramBuilder::emitWide(Handlers handlers, std::span<const uint32_t> targets,
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

Op &ProgramBuilder::emit(Handlers handlers, std::initializer_list<uint32_t> targets,
                         std::initializer_list<uint32_t> sources, int64_t imm, uint32_t a,
                         uint32_t b, uint8_t flags) {
  return emitWide(handlers, std::span(targets.begin(), targets.size()),
                  std::span(sources.begin(), sources.size()), imm, a, b, flags);
}

void ProgramBuilder::require(int arch, int version, std::string_view what) const {
  const Module &module = *program_->module;
  if (auto missing = missingFor(arch, version, module.target, module.version))
    unsupported("with " + std::string(what) + " " + *missing);
}

// All operands in one piece, in the order of the operations.
void ProgramBuilder::collectRows() {
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
void ProgramBuilder::finishRows() {
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
  if (options_.keepsInstructions)
    noteRowBytes();
}

void ProgramBuilder::noteRowBytes() {
  std::vector<uint8_t> &bytes = program_->rowBytes;
  for (RowKind kind : rowKinds_)
    bytes.push_back(kind == RowKind::Wide ? 8 : kind == RowKind::Word ? 4 : 0);
  bytes.resize(program_->fileBytes / kRowBytes, 4);
  for (const Program::Constant &constant : program_->constants)
    bytes[constant.row / kRowBytes] = constant.bytes == 8 ? 8 : 4;
}

} // namespace tile::vgpu
