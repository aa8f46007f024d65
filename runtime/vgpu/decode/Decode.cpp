// The frame of decoding: functions laid out, branches resolved, handlers wrapped.
#include "runtime/vgpu/decode/Decode.h"

#include "runtime/vgpu/decode/BlockOrder.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/decode/Stack.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/MatrixFlight.h"
#include "runtime/vgpu/machine/MmaBatch.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

#include <utility>

namespace tile::vgpu {

// Inlining repeats a function's code at each call; beyond this a kernel is refused instead of eating memory.
static constexpr size_t kMaxOperations = 1 << 20;

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
  program_->lines.push_back({instruction.line, instruction.source, instruction.spelling});
  size_t begin = program_->code.size();
  if (begin > kMaxOperations)
    throw Error(Fault::User, ErrorCode::ResourceExceeded,
                "the kernel '" + std::string(program_->entry->name) + "' has more than " +
                    std::to_string(kMaxOperations) +
                    " operations once the functions it calls are inlined",
                {program_->module->name.c_str(), instruction.line});
  const OpcodeInfo &opcode = infoOf(instruction);
  const OpcodeInfo *outer = std::exchange(opcode_, &opcode); // a call has instructions in it
  Program::Line &line = program_->lines.back();
  line.kind = opcode.kind(instruction);
  line.traits = opcode.traits;
  line.macs = line.kind == InstructionClass::Tensor ? macsOf(instruction) / opcode.warps : 0;
  if (options_.keepsInstructions)
    line.time = opcode.time(instruction);
  requireForm(instruction, opcode);
  Suffixes suffixes(instruction);
  std::vector<Widening> outerWidenings;
  std::swap(outerWidenings, widenings_);
  opcodes_.decodeOf(opcode, suffixes)(*this, instruction, suffixes);
  current_ = &instruction;
  if (!suffixes.empty())
    unsupported("unknown or misplaced modifier '." + std::string(suffixes.first()) + "'");
  widenResults();
  std::swap(outerWidenings, widenings_);
  if (instruction.flow != Flow::Call)
    wrapHandlers(begin, instruction);
  if (begin < program_->code.size())
    program_->code[begin].issues = 1;
  opcode_ = outer;
}

const OpcodeInfo &Decoder::infoOf(const Instruction &instruction) const {
  const OpcodeInfo *opcode = opcodes_.find(instruction.opcode);
  if (!opcode)
    unsupported("unknown instruction");
  return *opcode;
}

void Decoder::requireForm(const Instruction &instruction, const OpcodeInfo &opcode) {
  if (!knownForms_.insert(instruction.spelling).second)
    return;
  const Module &module = *program_->module;
  if (auto missing =
          missingFor(opcode.requirements, instruction.suffix, module.target, module.version))
    unsupported(*missing);
  if (auto broken = brokenRule(opcode.forms, opcode.name, instruction.suffix))
    malformed(*broken);
  if (auto broken = brokenOrder(opcode.orders, opcode.name, instruction.suffix))
    malformed(*broken);
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
  if (options_.keepsInstructions)
    return program_;
  batchMmas(*program_);
  if (!options_.trackInit && !program_->watchesMatrices && program_->recursions.empty())
    shareRows(*program_, rowKinds_);
  return program_;
}

} // namespace tile::vgpu
