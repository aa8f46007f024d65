// Branches, calls, exit, trap, and events for a profiler.
#include "runtime/vgpu/decode/BlockOrder.h"
#include "runtime/vgpu/decode/Decode.h"
#include "runtime/vgpu/decode/OpcodeTable.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/access/InitCheck.h"

namespace tile::vgpu {

void splitWarp(Warp &warp, uint32_t taken, uint32_t target) {
  if (taken == 0)
    return;
  if (taken == warp.mask) {
    warp.jump(target);
    return;
  }
  warp.splits.push_back({target, taken, false});
  warp.mask &= ~taken;
  warp.limit = 0;
}

void attachGuard(const Instruction &instruction, Op &op, uint32_t row) {
  op.flags |= kHasGuard;
  op.guardRow = row;
  op.guardFlip = instruction.guardNegated;
}

namespace {

constexpr uint8_t kJump = kOwnGuard | kOwnValidity | kControl | kJumps;

void jumpAll(Warp &warp, const Op &op) { warp.jump(static_cast<uint32_t>(op.imm)); }

void branchIf(Warp &warp, const Op &op) {
  uint32_t condition = warp.predicate(op.guardRow) ^ (0u - op.guardFlip);
  if (warp.shadow)
    checkCondition(warp, op, op.guardRow);
  splitWarp(warp, condition & warp.mask, static_cast<uint32_t>(op.imm));
}

void branchIndexed(Warp &warp, const Op &op) {
  const uint32_t *index = warp.row<uint32_t>(op.rows[0]);
  if (warp.shadow)
    checkCondition(warp, op, op.rows[0]);
  uint32_t first = index[std::countr_zero(warp.mask)], same = 0;
  forLanes(warp.mask, [&](unsigned lane) { same |= (index[lane] == first) << lane; });
  if (first >= op.a)
    warp.stop(op, FindingKind::Trap, LaneMask{warp.mask},
              "brx.idx index " + std::to_string(first) + " is past its " + std::to_string(op.a) +
                  " targets");
  // One jump per target follows this operation; lanes with another index come back here.
  if (same != warp.mask) {
    warp.splits.push_back({warp.pc - 1, warp.mask & ~same, false});
    warp.mask = same;
    warp.limit = 0;
  }
  warp.pc += first;
}

void exitLanes(Warp &warp, const Op &op) {
  if ((op.flags & kHasGuard) && warp.shadow)
    checkCondition(warp, op, op.guardRow);
  uint32_t leaving = guardedLanes(warp, op);
  if (leaving == 0)
    return;
  warp.exited |= leaving;
  warp.mask &= ~leaving;
  completeAllCopies(warp, leaving);
  warp.limit = 0;
}

void trap(Warp &warp, const Op &op) {
  warp.stop(op, FindingKind::Trap, LaneMask{warp.mask}, "the kernel executed trap");
}

void decodeBra(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  suffixes.take("uni");
  decoder.wantOperands(instruction, 1);
  if (instruction.guard < 0) {
    decoder.branchTo(decoder.emit(jumpAll, {}, {}, 0, 0, 0, kJump), instruction.targets[0]);
    return;
  }
  Op &op = decoder.emit(branchIf, {}, {}, 0, 0, 0, kJump);
  attachGuard(instruction, op, decoder.guardRow(instruction));
  decoder.branchTo(op, instruction.targets[0]);
}

void decodeBrx(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  if (!suffixes.take("idx"))
    decoder.unsupported("expected brx.idx");
  suffixes.take("uni");
  decoder.wantOperands(instruction, 2);
  if (instruction.guard >= 0)
    decoder.unsupported("a guard on brx; branch around it instead");
  uint32_t index = decoder.source(instruction.operands[0], ScalarType::U32);
  decoder.emit(branchIndexed, {}, {index}, 0, static_cast<uint32_t>(instruction.targets.size()), 0,
               kOwnGuard | kOwnValidity | kControl);
  for (uint32_t target : instruction.targets)
    emitJump(decoder, target);
}

void emitExit(Decoder &decoder, const Instruction &instruction) {
  Op &op = decoder.emit(exitLanes, {}, {}, 0, 0, 0, kOwnGuard | kOwnValidity | kControl);
  if (instruction.guard >= 0)
    attachGuard(instruction, op, decoder.guardRow(instruction));
}

void decodeExit(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  decoder.wantOperands(instruction, 0);
  emitExit(decoder, instruction);
}

void decodeRet(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  suffixes.take("uni");
  decoder.wantOperands(instruction, 0);
  std::optional<uint32_t> end = decoder.functionEnd();
  if (!end) {
    emitExit(decoder, instruction);
    return;
  }
  Op &op = decoder.emit(instruction.guard < 0 ? jumpAll : branchIf, {}, {}, 0, 0, 0, kJump);
  if (instruction.guard >= 0)
    attachGuard(instruction, op, decoder.guardRow(instruction));
  decoder.branchTo(op, *end);
}

void decodeTrap(Decoder &decoder, const Instruction &instruction, Suffixes &) {
  decoder.wantOperands(instruction, 0);
  decoder.emit(trap, {}, {});
}

// An event for a profiler, of which there is none: it is counted as an instruction, and has no effect.
void monitorEvent(Warp &, const Op &) {}

void decodeMonitorEvent(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  uint64_t most = suffixes.take("mask") ? 0xffff : 15; // a set of events, or the number of one
  decoder.wantOperands(instruction, 1);
  const Operand &event = instruction.operands[0];
  if (event.kind != Operand::Kind::Immediate || event.value > most)
    decoder.malformed("the event must be a constant from 0 to " + std::to_string(most));
  decoder.emit(monitorEvent, {}, {});
}

void decodeCall(Decoder &decoder, const Instruction &instruction, Suffixes &suffixes) {
  suffixes.take("uni");
  decoder.decodeCall(instruction);
}

const OpcodeInfo kOpcodes[] = {
    {.name = "bra",
     .decode = decodeBra,
     .time = alwaysTakes<TimeKind::Branch, Cost::Branch>,
     .kind = always<InstructionClass::Control>},
    {.name = "brx",
     .decode = decodeBrx,
     .time = alwaysTakes<TimeKind::Branch, Cost::Branch>,
     .kind = always<InstructionClass::Control>},
    {.name = "exit",
     .decode = decodeExit,
     .time = alwaysTakes<TimeKind::Exit, Cost::Exit>,
     .kind = always<InstructionClass::Control>},
    {.name = "ret",
     .decode = decodeRet,
     .time = alwaysTakes<TimeKind::Exit, Cost::Exit>,
     .kind = always<InstructionClass::Control>},
    {.name = "trap",
     .decode = decodeTrap,
     .time = alwaysCosts<Cost::Issue>,
     .kind = always<InstructionClass::Control>},
    {.name = "pmevent",
     .decode = decodeMonitorEvent,
     .time = alwaysCosts<Cost::Issue>,
     .kind = always<InstructionClass::Other>},
    {.name = "call",
     .decode = decodeCall,
     .time = alwaysCosts<Cost::Issue>,
     .kind = always<InstructionClass::Control>},
};

} // namespace

void emitJump(Decoder &decoder, uint32_t target) {
  decoder.branchTo(decoder.emit(jumpAll, {}, {}, 0, 0, 0, kJump), target);
}

OpcodeRows controlOpcodes() { return kOpcodes; }

} // namespace tile::vgpu
